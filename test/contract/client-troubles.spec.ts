import { describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { listProjects } from '../../src/tidb-cloud/endpoints.js';
import { clientStage, CREATE, keySession, LIST, staying, tokenSession } from './harness.js';

const stage = clientStage();

describe("TiDB Cloud's own limit", () => {
  it('is followed as it is told: with nothing left nothing is sent until the next minute, at either host', async () => {
    await stage.start({ rateLimitPerMinute: 2 });
    const session = keySession(stage.sandbox);
    await stage.client.request(session, LIST, staying());
    await stage.client.request(session, LIST, staying());
    const sent = stage.seen().length;
    const limited = { kind: 'rate-limited', retryAfterSeconds: 30 };
    expect(await stage.client.request(session, LIST, staying())).toEqual(limited);
    expect(await stage.client.request(session, listProjects({}), staying())).toEqual(limited);
    expect(stage.seen()).toHaveLength(sent);
    stage.clock.advanceSeconds(30);
    expect(await stage.client.request(session, LIST, staying())).toMatchObject({ kind: 'ok' });
  });

  it('leaves one of many callers behind a key at most half of what the minute has left', async () => {
    await stage.start({ rateLimitPerMinute: 100 });
    const session = keySession(stage.sandbox);
    const served = async (share: string) => {
      for (let count = 0; ; count += 1) {
        const outcome = await stage.client.request(session, LIST, staying(), share);
        if (outcome.kind === 'rate-limited') return count;
      }
    };
    expect(await served('busy')).toBe(50);
    expect(await served('other')).toBe(25);
    expect(await served('busy')).toBe(0);
    expect(await stage.client.request(session, LIST, staying())).toMatchObject({ kind: 'ok' });
    stage.clock.advanceSeconds(60);
    expect(await served('busy')).toBe(50);
  });

  it('met by a request is told with its wait, and nothing more is sent until it is over', async () => {
    await stage.start({ rateLimitPerMinute: 1 });
    const session = keySession(stage.sandbox);
    await stage.client.request(keySession(stage.sandbox), LIST, staying());
    stage.sandbox.requests.length = 0;
    const limited = { kind: 'rate-limited', retryAfterSeconds: 30 };
    expect(await stage.client.request(session, LIST, staying())).toEqual(limited);
    stage.clock.advanceSeconds(12.5);
    expect(await stage.client.request(session, LIST, staying())).toEqual({ ...limited, retryAfterSeconds: 18 });
    expect(stage.seen()).toEqual(['none 401', 'digest 429']);
    stage.clock.advanceSeconds(17.5);
    expect(await stage.client.request(session, LIST, staying())).toMatchObject({ kind: 'ok' });
  });

  it('of one credential holds up no other', async () => {
    const other = { publicKey: 'OTHER', privateKey: 'other' };
    await stage.start({ rateLimitPerMinute: 1, keys: [{ publicKey: 'FIRST', privateKey: 'first' }, other] });
    const session = keySession(stage.sandbox);
    await stage.client.request(session, LIST, staying());
    await stage.client.request(session, LIST, staying());
    const stranger = { credential: { kind: 'api-key', ...other } } as const;
    expect(await stage.client.request(stranger, LIST, staying())).toMatchObject({ kind: 'ok' });
  });
});

describe('When TiDB Cloud fails', () => {
  it('a hanging answer ends with the time-out, which covers the whole exchange', async () => {
    await stage.start({}, 150);
    stage.sandbox.hang = true;
    const outcome = await stage.client.request(tokenSession(stage.sandbox), LIST, staying());
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'timeout', sent: true });
    expect(stage.observed).toEqual(['unavailable_timeout']);
  });

  it('a slow challenge leaves the signed request only the rest of the time', async () => {
    await stage.start({}, 300);
    stage.sandbox.slowMs = 200;
    const outcome = await stage.client.request(keySession(stage.sandbox), CREATE, staying());
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'timeout', sent: true });
  });

  it('an unsigned request without an answer was surely not carried out', async () => {
    await stage.start({}, 100);
    stage.sandbox.hang = true;
    const outcome = await stage.client.request(keySession(stage.sandbox), CREATE, staying());
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'timeout', sent: false });
  });

  it('a connection that is reset is not tried again, read or change, and the change is of unknown outcome', async () => {
    await stage.start();
    const session = keySession(stage.sandbox);
    await stage.client.request(session, LIST, staying());
    stage.sandbox.requests.length = 0;
    stage.sandbox.reset = true;
    const broken = { kind: 'unavailable', reason: 'connection', sent: true };
    expect(await stage.client.request(session, CREATE, staying())).toEqual(broken);
    expect(await stage.client.request(session, LIST, staying())).toEqual(broken);
    expect(stage.seen()).toEqual(['digest 0', 'digest 0']);
  });

  it('a closed port is told as not sent', async () => {
    await stage.start();
    await stage.sandbox.close();
    const outcome = await stage.client.request(tokenSession(stage.sandbox), CREATE, staying());
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'connection', sent: false });
  });

  it('an answer that is no JSON or larger than 4 MiB is no answer', async () => {
    await stage.start();
    const noBody = { kind: 'unavailable', reason: 'body', sent: true };
    stage.sandbox.garbage = true;
    expect(await stage.client.request(tokenSession(stage.sandbox), LIST, staying())).toEqual(noBody);
    stage.sandbox.garbage = false;
    stage.sandbox.padBytes = 4 * 1024 * 1024;
    expect(await stage.client.request(tokenSession(stage.sandbox), LIST, staying())).toEqual(noBody);
    stage.sandbox.padBytes = 3 * 1024 * 1024;
    expect(await stage.client.request(tokenSession(stage.sandbox), LIST, staying())).toMatchObject({ kind: 'ok' });
  });

  it('a redirect is not followed, so that no credential goes to another host', async () => {
    await stage.start();
    const elsewhere = await startSandbox({ clock: stage.clock });
    stage.sandbox.redirectTo = `${elsewhere.serverlessUrl}/v1beta1/clusters`;
    const outcome = await stage.client.request(tokenSession(stage.sandbox), LIST, staying());
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'status', sent: true });
    expect(await stage.client.validate(keySession(stage.sandbox), staying())).toEqual({ kind: 'unavailable' });
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  it('a caller who goes away ends the request upstream, and nothing more is sent', async () => {
    await stage.start();
    stage.sandbox.hang = true;
    const caller = new AbortController();
    const pending = stage.client.request(tokenSession(stage.sandbox), LIST, caller.signal);
    await expect.poll(() => stage.sandbox.requests.length).toBe(1);
    caller.abort();
    expect(await pending).toEqual({ kind: 'unavailable', reason: 'aborted', sent: true });
    const gone = await stage.client.request(tokenSession(stage.sandbox), LIST, caller.signal);
    expect(gone).toEqual({ kind: 'unavailable', reason: 'aborted', sent: false });
    expect(stage.sandbox.requests).toHaveLength(1);
  });

  it('requests beyond the 64 connections wait, can be aborted while they wait, and were then never sent', async () => {
    await stage.start();
    stage.sandbox.hang = true;
    const session = tokenSession(stage.sandbox);
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = Array.from({ length: 64 }, () =>
      stage.client.request(session, LIST, AbortSignal.any([running.signal])),
    );
    await expect.poll(() => stage.sandbox.requests.length).toBe(64);
    const second = Array.from({ length: 16 }, () =>
      stage.client.request(session, LIST, AbortSignal.any([waiting.signal])),
    );
    waiting.abort();
    for (const outcome of await Promise.all(second)) expect(outcome).toMatchObject({ reason: 'aborted', sent: false });
    running.abort();
    for (const outcome of await Promise.all(first)) expect(outcome).toMatchObject({ reason: 'aborted', sent: true });
    stage.sandbox.hang = false;
    expect(await stage.client.request(session, LIST, staying())).toMatchObject({ kind: 'ok' });
    expect(stage.sandbox.requests).toHaveLength(65);
  });

  it('more than 1,024 requests at once fail at once', async () => {
    await stage.start({}, 1000);
    stage.sandbox.hang = true;
    const session = tokenSession(stage.sandbox);
    const pending = Array.from({ length: 1024 }, () => stage.client.request(session, LIST, staying()));
    const outcome = await stage.client.request(session, LIST, staying());
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'connection', sent: false });
    await stage.client.onApplicationShutdown();
    await Promise.all(pending);
  });
});

describe('Shutting down', () => {
  it('breaks what still runs and lets nothing new out', async () => {
    await stage.start();
    stage.sandbox.hang = true;
    const pending = stage.client.request(tokenSession(stage.sandbox), LIST, staying());
    await expect.poll(() => stage.sandbox.requests.length).toBe(1);
    await stage.client.onApplicationShutdown();
    expect(await pending).toEqual({ kind: 'unavailable', reason: 'connection', sent: true });
    const late = await stage.client.request(tokenSession(stage.sandbox), LIST, staying());
    expect(late).toEqual({ kind: 'unavailable', reason: 'connection', sent: false });
  });
});
