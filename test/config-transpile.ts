import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');

/** A part of the program as JavaScript, for tests that need a process of their own and no build. */
export interface Transpiled {
  /** The folder that `dist` would be. */
  readonly dist: string;
  remove(): void;
}

/**
 * Transpiles files and folders of `src` into a scratch folder beneath the installed packages, where they resolve their
 * imports as in a build.
 */
export function transpile(...paths: readonly string[]): Transpiled {
  const cache = join(root, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'transpiled-'));
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  for (const path of paths.flatMap(filesOf)) {
    const target = join(folder, 'dist', path.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, javascriptOf(path));
  }
  return { dist: join(folder, 'dist'), remove: () => rmSync(folder, { recursive: true }) };
}

function filesOf(path: string): string[] {
  if (path.endsWith('.ts')) return [path];
  const names = readdirSync(join(source, path)).filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'));
  return names.map((name) => join(path, name));
}

function javascriptOf(path: string): string {
  const compilerOptions: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ES2022,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
  };
  return ts.transpileModule(readFileSync(join(source, path), 'utf8'), { compilerOptions }).outputText;
}
