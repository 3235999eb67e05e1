import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allDocuments, anchorsOf, codeBlocks, inlineCode, readDocument, ROOT, tableRows } from './documents.js';

/** Links of one document to places in this project: the file from the root, and the anchor. */
function localLinks(path: string): { file: string; anchor: string | undefined; link: string }[] {
  const text = readDocument(path).replace(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [file = '', anchor] = link.split('#');
      return { file: file === '' ? path : normalize(join(dirname(path), file)), anchor, link };
    });
}

describe('a reader who follows a link', () => {
  it('finds documents that have links at all', () => {
    expect(localLinks('README.md').length).toBeGreaterThan(5);
  });

  it.each(allDocuments())('from %s arrives at a file and a heading that exist', (path) => {
    const broken = localLinks(path).filter(({ file, anchor }) => {
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && !anchorsOf(readDocument(file)).has(anchor);
    });
    expect(broken.map(({ link }) => link)).toEqual([]);
  });
});

describe('the index of decisions', () => {
  const files = readdirSync(join(ROOT, 'docs/decisions')).filter((name) => /^\d{4}-/.test(name));
  const rows = tableRows(readDocument('docs/decisions/README.md'));

  it('names every page, under its number, once', () => {
    const listed = rows.map(([number, link = '']) => [number, /\(([^)]+)\)/.exec(link)?.[1]]);
    expect(listed).toEqual(files.sort().map((name) => [name.slice(0, 4), name]));
  });

  it.each(files)('leads to %s, which has a context, a decision and a consequence', (name) => {
    const text = readDocument(`docs/decisions/${name}`);
    expect(text.startsWith(`# ${name.slice(0, 4)}: `)).toBe(true);
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    expect(headings).toEqual(['Context', 'Decision', 'Consequence']);
  });

  it.each(rows)('calls %s by the title that its page has', (number = '', link = '') => {
    const [, title, file = ''] = /\[(.+)\]\((.+)\)/.exec(link) ?? [];
    expect(readDocument(`docs/decisions/${file}`).split('\n')[0]).toBe(`# ${number}: ${title}`);
  });
});

describe('what a reader pastes', () => {
  it('is JSON wherever it says so', () => {
    const blocks = allDocuments().flatMap((path) => codeBlocks(readDocument(path), 'json'));
    expect(blocks.length).toBeGreaterThan(5);
    for (const block of blocks) expect(() => JSON.parse(block) as unknown, block).not.toThrow();
  });

  it('is a script that npm knows', () => {
    const { scripts } = JSON.parse(readDocument('package.json')) as { scripts: Record<string, string> };
    const texts = allDocuments().map(readDocument);
    const named = texts.flatMap((text) => [...text.matchAll(/\bnpm run ([a-z:-]+)/g)].map(([, name = '']) => name));
    expect(new Set(named).size).toBeGreaterThan(3);
    expect([...new Set(named)].filter((name) => !(name in scripts))).toEqual([]);
  });

  it('is a file of this project where the documents name one of the source', () => {
    const named = allDocuments()
      .flatMap((path) => inlineCode(readDocument(path)))
      .filter((code) => /^(src\/|test\/)?[a-z-]+(\/[a-z-]+)*\.(service\.|adapter\.|module\.)?ts$/.test(code));
    expect(named.length).toBeGreaterThan(5);
    const missing = named.filter(
      (path) => ![path, `src/${path}`, `src/capabilities/${path}`].some((place) => existsSync(join(ROOT, place))),
    );
    expect(missing).toEqual([]);
  });
});
