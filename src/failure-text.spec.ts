import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { failureText } from './failure-text.js';

describe('the reason of an unexpected end', () => {
  it('names the address that something else listens on', async () => {
    const first = createServer();
    await new Promise<void>((resolve) => first.listen(0, '127.0.0.1', resolve));
    const { port } = first.address() as { port: number };
    const error = await new Promise((resolve) => createServer().once('error', resolve).listen(port, '127.0.0.1'));
    first.close();
    expect(failureText(error)).toBe(
      `tidb-cloud-mcp can't listen on 127.0.0.1 port ${port} (EADDRINUSE): something else does. Stop it, or set TIDB_MCP_PORT.`,
    );
  });

  it('is one line for a state of the machine and has the stack for a fault of the server', () => {
    const missing = Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' });
    expect(failureText(missing)).toBe('tidb-cloud-mcp ends: ENOENT: no such file (ENOENT)');
    expect(failureText(new TypeError('x is undefined'))).toMatch(/TypeError: x is undefined\n\s+at /);
  });

  it('holds no credential', () => {
    const text = failureText(new Error('connect mysql://root:hunter2@db failed'));
    expect(text).toContain('mysql://***@db');
    expect(failureText('Bearer abcdefgh:12345678')).not.toContain('12345678');
  });
});
