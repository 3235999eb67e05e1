import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Transpiled, transpile } from './config-transpile.js';

let program: Transpiled;
beforeAll(() => {
  program = transpile('observability/standard-stream.adapter.ts', 'observability/line-writer.ts');
});
afterAll(() => program.remove());

/** Runs a program that has `stream`, the writer of standard output, and tells through its standard error. */
function start(body: string) {
  const module = join(program.dist, 'observability/standard-stream.adapter.js');
  const code = `import { writeSync } from 'node:fs'; import { standardStream } from ${JSON.stringify(module)};
    const stream = standardStream(1); const tell = (text) => writeSync(2, text + '\\n');
    const write = (lines) => new Promise((done) => stream.write(lines, (...result) => done(JSON.stringify(result))));
    ${body}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'pipe'] });
  let told = '';
  child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
  return { child, told: () => told };
}

describe('standard output', () => {
  it('takes lines for whoever reads', async () => {
    const { child, told } = start(`tell(await write(['a\\n', 'b\\n'])); await stream.flush(1000);`);
    let read = '';
    child.stdout.on('data', (chunk: Buffer) => (read += chunk.toString()));
    await once(child, 'close');
    expect([read, told()]).toEqual(['a\nb\n', '[2]\n']);
  });

  it('that nobody reads holds up neither the process nor its end, and loses lines only past its ceiling', async () => {
    const { child, told } = start(`
      const megabyte = 'x'.repeat(1048575) + '\\n';
      for (let n = 0; n < 5; n += 1) stream.write([megabyte]);
      setTimeout(async () => { tell(await write(['late\\n'])); await stream.flush(100); tell('end'); process.exit(0); }, 50);
    `);
    const [status] = (await once(child, 'exit')) as [number];
    expect(status).toBe(0);
    expect(told()).toBe('[0,"reader too slow"]\nend\n');
  });

  it('whose reader is gone loses lines and not the process', async () => {
    const { child, told } = start(`
      setTimeout(async () => { await write(['a\\n']); tell(await write(['b\\n'])); }, 200);
    `);
    child.stdout.destroy();
    const [status] = (await once(child, 'close')) as [number];
    expect([status, told()]).toEqual([0, '[0,"EPIPE"]\n']);
  });
});
