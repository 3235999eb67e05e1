import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { listClusters } from '../../src/tidb-cloud/endpoints.js';
import { freePort } from '../support/free-port.js';
import { createClient, HandClock, keySession, staying } from './harness.js';

describe('A TiDB Cloud that cannot be reached', () => {
  let lines: string[];
  beforeEach(() => {
    lines = [];
    vi.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void lines.push(`warn ${String(line)}`));
    vi.spyOn(Logger.prototype, 'log').mockImplementation((line: unknown) => void lines.push(`info ${String(line)}`));
  });
  afterEach(() => vi.restoreAllMocks());

  it('is told in the log with its host and the reason, once a minute, without a key or a path', async () => {
    const clock = new HandClock();
    const sandbox = await startSandbox();
    const gone = `http://127.0.0.1:${await freePort()}`;
    const away = createClient({ serverlessUrl: `${gone}/base/path`, iamUrl: gone }, clock);
    const ask = () => away.client.request(keySession(sandbox), listClusters({}), staying());
    for (let i = 0; i < 5; i += 1) expect(await ask()).toMatchObject({ kind: 'unavailable', reason: 'connection' });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`${new URL(gone).host} gives no answer that counts (ECONNREFUSED)`);
    clock.advanceSeconds(60);
    await ask();
    expect(lines).toHaveLength(2);
    for (const secret of [sandbox.publicKey, sandbox.privateKey, 'clusters', '/base']) {
      expect(lines.join()).not.toContain(secret);
    }
    await away.client.onApplicationShutdown();
    await sandbox.close();
  });

  it('is told of a base URL where something else answers, and of a name that nobody knows', async () => {
    const clock = new HandClock();
    const sandbox = await startSandbox();
    const wrong = createClient({ serverlessUrl: `${sandbox.serverlessUrl}/elsewhere`, iamUrl: sandbox.iamUrl }, clock);
    expect(await wrong.client.validate(keySession(sandbox), staying())).toEqual({ kind: 'unavailable' });
    const nobody = createClient({ serverlessUrl: 'http://nobody.invalid', iamUrl: sandbox.iamUrl }, clock);
    await nobody.client.request(keySession(sandbox), listClusters({}), staying());
    expect(lines.map((line) => /\((.*?)\)/.exec(line)?.[1])).toEqual([
      expect.stringMatching(/^HTTP 404/),
      expect.stringMatching(/^E[A-Z_]+$/),
    ]);
    await Promise.all([wrong, nobody].map(({ client }) => client.onApplicationShutdown()));
    await sandbox.close();
  });
});
