import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileSink } from './file-sink.adapter.js';
import { LineWriter } from './line-writer.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'file-sink-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(sink: FileSink, ...lines: string[]): Promise<[number, string | undefined]> {
  return new Promise((resolve) => sink.write(lines, (arrived, reason) => resolve([arrived, reason])));
}

describe('telemetry to a file', () => {
  it('appends lines to a file that only its owner reads', async () => {
    const path = join(folder, 'events.jsonl');
    expect(await write(new FileSink(path), 'a\n', 'b\n')).toEqual([2, undefined]);
    expect(await write(new FileSink(path), 'c\n')).toEqual([1, undefined]);
    expect(readFileSync(path, 'utf8')).toBe('a\nb\nc\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('goes on in a new file when the old one was rotated away', async () => {
    const path = join(folder, 'events.jsonl');
    const sink = new FileSink(path);
    await write(sink, 'a\n');
    renameSync(path, join(folder, 'events.1'));
    await write(sink, 'b\n');
    expect(readFileSync(path, 'utf8')).toBe('b\n');
  });

  it('makes the folder that is missing', async () => {
    const path = join(folder, 'new', 'deep', 'events.jsonl');
    expect(await write(new FileSink(path), 'a\n')).toEqual([1, undefined]);
  });

  it('says why it lost lines, and goes on once the path can be written', async () => {
    writeFileSync(join(folder, 'in-the-way'), '');
    const sink = new FileSink(join(folder, 'in-the-way', 'events.jsonl'));
    expect(await write(sink, 'a\n')).toEqual([0, 'ENOTDIR']);
    rmSync(join(folder, 'in-the-way'));
    expect(await write(sink, 'b\n')).toEqual([1, undefined]);
  });

  it.skipIf(!existsSync('/dev/full'))('loses lines on a full disk without an exception (needs /dev/full)', async () => {
    expect(await write(new FileSink('/dev/full'), 'a\n', 'b\n')).toEqual([0, 'ENOSPC']);
  });
});

describe('lines that a disk took in part', () => {
  it('count as arrived up to the last whole one, and the next batch begins on a line of its own', () => {
    const writer = new LineWriter();
    const first = writer.begin(['aaa\n', 'bbb\n', 'ccc\n']);
    expect(writer.end(first, 6, { code: 'ENOSPC' })).toEqual({ arrived: 1, reason: 'ENOSPC' });
    const second = writer.begin(['ddd\n']);
    expect(second.bytes.toString()).toBe('\nddd\n');
    expect(writer.end(second, 0, { code: 'ENOSPC' })).toEqual({ arrived: 0, reason: 'ENOSPC' });
    const third = writer.begin(['eee\n']);
    expect(writer.end(third, 1, { code: 'ENOSPC' })).toEqual({ arrived: 0, reason: 'ENOSPC' });
    expect(writer.begin(['fff\n']).bytes.toString()).toBe('fff\n');
  });
});
