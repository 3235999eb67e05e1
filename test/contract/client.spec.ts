import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.adapter.js';
import { createCluster, getCluster, listClusters, listProjects } from '../../src/tidb-cloud/endpoints.js';
import { createClient, HandClock, keySession, staying, tokenSession, type Harness } from './harness.js';

const LIST = listClusters({ pageSize: 2 });
const CREATE = createCluster({ displayName: 'new-cluster', region: { name: 'regions/aws-us-east-1' } });

let sandbox: Sandbox;
let clock: HandClock;
let harness: Harness;

async function start(options: SandboxOptions = {}, timeoutMs?: number): Promise<void> {
  sandbox = await startSandbox({ clock, ...options });
  harness = createClient(sandbox, clock, timeoutMs);
}

/** What the sandbox has seen: schemes and statuses, in order. */
function seen(): string[] {
  return sandbox.requests.map(({ scheme, status }) => `${scheme} ${status}`);
}

beforeEach(() => {
  clock = new HandClock();
});

afterEach(async () => {
  await harness.client.onApplicationShutdown();
  await sandbox.close();
});

describe('Calling TiDB Cloud with an API key', () => {
  it.each(['MD5', 'SHA-256', 'both'] as const)('signs with %s and reads the answer', async (digestAlgorithm) => {
    await start({ digestAlgorithm });
    const outcome = await harness.client.request(keySession(sandbox), LIST, staying());
    expect(outcome).toMatchObject({ kind: 'ok', value: { totalSize: 25 } });
    expect(seen()).toEqual(['none 401', 'digest 200']);
    expect(harness.observed).toEqual(['ok']);
  });

  it('reuses the nonce: one request a call after the first', async () => {
    await start();
    const session = keySession(sandbox);
    for (let call = 0; call < 4; call += 1) await harness.client.request(session, LIST, staying());
    expect(seen()).toEqual(['none 401', 'digest 200', 'digest 200', 'digest 200', 'digest 200']);
  });

  it('keeps nonces by host, and works side by side under one nonce', async () => {
    await start();
    const session = keySession(sandbox);
    await harness.client.request(session, LIST, staying());
    await harness.client.request(session, listProjects({}), staying());
    sandbox.requests.length = 0;
    const calls = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? LIST : listProjects({})));
    const outcomes = await Promise.all(calls.map((call) => harness.client.request(session, call, staying())));
    expect(outcomes.every(({ kind }) => kind === 'ok')).toBe(true);
    expect(seen()).toEqual(Array.from({ length: 20 }, () => 'digest 200'));
  });

  it.each([true, false])('signs again when the nonce has expired (stale flag: %s)', async (staleFlag) => {
    await start({ nonceLifeSeconds: 60 });
    sandbox.staleFlag = staleFlag;
    const session = keySession(sandbox);
    await harness.client.request(session, LIST, staying());
    clock.advanceSeconds(61);
    sandbox.requests.length = 0;
    expect(await harness.client.request(session, LIST, staying())).toMatchObject({ kind: 'ok' });
    expect(seen()).toEqual(['digest 401', 'digest 200']);
  });

  it('signs a third time where the nonce was stale at once, and gives up on a second stale', async () => {
    await start({ nonceLifeSeconds: 0 });
    const session = keySession(sandbox);
    expect(await harness.client.validate(session, staying())).toEqual({ kind: 'unavailable' });
    expect(seen()).toEqual(['none 401', 'digest 401', 'digest 401']);
  });

  it('notices that a key was revoked, also under a kept nonce', async () => {
    await start();
    const session = keySession(sandbox);
    await harness.client.request(session, LIST, staying());
    sandbox.rejectKey(sandbox.publicKey);
    sandbox.requests.length = 0;
    expect(await harness.client.request(session, LIST, staying())).toEqual({ kind: 'rejected' });
    expect(seen()).toEqual(['digest 401', 'digest 401']);
  });

  it('sends the body of a change once, and only signed', async () => {
    await start();
    const session = keySession(sandbox);
    expect(await harness.client.request(session, CREATE, staying())).toMatchObject({
      kind: 'ok',
      value: { displayName: 'new-cluster', state: 'CREATING' },
    });
    expect(seen()).toEqual(['none 401', 'digest 200']);
    const outcome = await harness.client.request(session, LIST, staying());
    expect(outcome).toMatchObject({ value: { totalSize: 26 } });
  });

  it('tells apart what TiDB Cloud refuses', async () => {
    await start();
    const session = keySession(sandbox);
    const bad = createCluster({ displayName: 'x', region: { name: 'regions/aws-us-east-1' } });
    expect(await harness.client.request(session, getCluster('1'), staying())).toEqual({ kind: 'not-found' });
    expect(await harness.client.request(session, bad, staying())).toMatchObject({ kind: 'invalid' });
    sandbox.forbidKey(sandbox.publicKey);
    expect(await harness.client.request(session, LIST, staying())).toMatchObject({ kind: 'forbidden' });
    expect(await harness.client.request(session, listProjects({}), staying())).toMatchObject({ kind: 'forbidden' });
  });

  it('refuses an id that could reach another path without asking anybody', async () => {
    await start();
    expect(await harness.client.request(keySession(sandbox), getCluster('..'), staying())).toMatchObject({
      kind: 'invalid',
    });
    expect(seen()).toEqual([]);
  });
});

describe('Calling TiDB Cloud with an OAuth token', () => {
  it('sends one request a call', async () => {
    await start();
    expect(await harness.client.request(tokenSession(sandbox), LIST, staying())).toMatchObject({ kind: 'ok' });
    expect(seen()).toEqual(['bearer 200']);
  });

  it('takes a 401 for a rejection', async () => {
    await start();
    expect(await harness.client.request(tokenSession(sandbox, 'other'), LIST, staying())).toEqual({ kind: 'rejected' });
    expect(seen()).toEqual(['bearer 401']);
  });
});

describe('Validating a credential', () => {
  it('accepts a key and a token that TiDB Cloud accepts', async () => {
    await start();
    expect(await harness.client.validate(keySession(sandbox), staying())).toEqual({ kind: 'accepted' });
    expect(await harness.client.validate(tokenSession(sandbox), staying())).toEqual({ kind: 'accepted' });
    const [first] = sandbox.requests;
    expect(first).toMatchObject({ host: 'serverless', method: 'GET', path: '/v1beta1/clusters', query: 'pageSize=1' });
  });

  it('accepts a key that is known but may do nothing', async () => {
    await start();
    sandbox.forbidKey(sandbox.publicKey);
    expect(await harness.client.validate(keySession(sandbox), staying())).toEqual({ kind: 'accepted' });
    expect(await harness.client.validate(tokenSession(sandbox), staying())).toEqual({ kind: 'accepted' });
  });

  it('rejects a wrong private key, an unknown public key and an unknown token', async () => {
    await start();
    const unknown = { credential: { kind: 'api-key', publicKey: 'NOBODY', privateKey: 'x' } } as const;
    expect(await harness.client.validate(keySession(sandbox, 'wrong'), staying())).toEqual({ kind: 'rejected' });
    expect(await harness.client.validate(unknown, staying())).toEqual({ kind: 'rejected' });
    expect(await harness.client.validate(tokenSession(sandbox, 'other'), staying())).toEqual({ kind: 'rejected' });
  });

  it.each(['outage', 'garbage', 'reset'] as const)('says neither yes nor no in case of: %s', async (fault) => {
    await start();
    sandbox[fault] = true;
    expect(await harness.client.validate(keySession(sandbox), staying())).toEqual({ kind: 'unavailable' });
    expect(await harness.client.validate(tokenSession(sandbox), staying())).toEqual({ kind: 'unavailable' });
  });

  it("tells the wait for TiDB Cloud's own limit, and asks again all the same", async () => {
    await start({ rateLimitPerMinute: 1 });
    const session = keySession(sandbox);
    expect(await harness.client.validate(session, staying())).toEqual({ kind: 'accepted' });
    const limited = { kind: 'unavailable', retryAfterSeconds: 30 };
    expect(await harness.client.validate(session, staying())).toEqual(limited);
    expect(await harness.client.validate(session, staying())).toEqual(limited);
    expect(seen()).toEqual(['none 401', 'digest 200', 'digest 429', 'digest 429']);
  });
});

describe("TiDB Cloud's own limit", () => {
  it('is followed as it is told: with nothing left nothing is sent until the next minute, at either host', async () => {
    await start({ rateLimitPerMinute: 2 });
    const session = keySession(sandbox);
    await harness.client.request(session, LIST, staying());
    await harness.client.request(session, LIST, staying());
    const sent = seen().length;
    const limited = { kind: 'rate-limited', retryAfterSeconds: 30 };
    expect(await harness.client.request(session, LIST, staying())).toEqual(limited);
    expect(await harness.client.request(session, listProjects({}), staying())).toEqual(limited);
    expect(seen()).toHaveLength(sent);
    clock.advanceSeconds(30);
    expect(await harness.client.request(session, LIST, staying())).toMatchObject({ kind: 'ok' });
  });

  it('leaves one of many callers behind a key at most half of what the minute has left', async () => {
    await start({ rateLimitPerMinute: 100 });
    const session = keySession(sandbox);
    const served = async (share: string) => {
      for (let count = 0; ; count += 1) {
        const outcome = await harness.client.request(session, LIST, staying(), share);
        if (outcome.kind === 'rate-limited') return count;
      }
    };
    expect(await served('busy')).toBe(50);
    expect(await served('other')).toBe(25);
    expect(await served('busy')).toBe(0);
    expect(await harness.client.request(session, LIST, staying())).toMatchObject({ kind: 'ok' });
    clock.advanceSeconds(60);
    expect(await served('busy')).toBe(50);
  });

  it('met by a request is told with its wait, and nothing more is sent until it is over', async () => {
    await start({ rateLimitPerMinute: 1 });
    const session = keySession(sandbox);
    await harness.client.request(keySession(sandbox), LIST, staying());
    sandbox.requests.length = 0;
    const limited = { kind: 'rate-limited', retryAfterSeconds: 30 };
    expect(await harness.client.request(session, LIST, staying())).toEqual(limited);
    clock.advanceSeconds(12.5);
    expect(await harness.client.request(session, LIST, staying())).toEqual({ ...limited, retryAfterSeconds: 18 });
    expect(seen()).toEqual(['none 401', 'digest 429']);
    clock.advanceSeconds(17.5);
    expect(await harness.client.request(session, LIST, staying())).toMatchObject({ kind: 'ok' });
  });

  it('of one credential holds up no other', async () => {
    const other = { publicKey: 'OTHER', privateKey: 'other' };
    await start({ rateLimitPerMinute: 1, keys: [{ publicKey: 'FIRST', privateKey: 'first' }, other] });
    const session = keySession(sandbox);
    await harness.client.request(session, LIST, staying());
    await harness.client.request(session, LIST, staying());
    const stranger = { credential: { kind: 'api-key', ...other } } as const;
    expect(await harness.client.request(stranger, LIST, staying())).toMatchObject({ kind: 'ok' });
  });
});

describe('When TiDB Cloud fails', () => {
  it('a hanging answer ends with the time-out, which covers the whole exchange', async () => {
    await start({}, 150);
    sandbox.hang = true;
    const began = performance.now();
    const outcome = await harness.client.request(tokenSession(sandbox), LIST, staying());
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'timeout', sent: true });
    expect(performance.now() - began).toBeGreaterThan(140);
    expect(harness.observed).toEqual(['unavailable_timeout']);
  });

  it('a slow challenge leaves the signed request only the rest of the time', async () => {
    await start({}, 300);
    sandbox.slowMs = 200;
    const outcome = await harness.client.request(keySession(sandbox), CREATE, staying());
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'timeout', sent: true });
  });

  it('an unsigned request without an answer was surely not carried out', async () => {
    await start({}, 100);
    sandbox.hang = true;
    const outcome = await harness.client.request(keySession(sandbox), CREATE, staying());
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'timeout', sent: false });
  });

  it('a connection that is reset is not tried again, read or change, and the change is of unknown outcome', async () => {
    await start();
    const session = keySession(sandbox);
    await harness.client.request(session, LIST, staying());
    sandbox.requests.length = 0;
    sandbox.reset = true;
    const broken = { kind: 'unavailable', reason: 'connection', sent: true };
    expect(await harness.client.request(session, CREATE, staying())).toEqual(broken);
    expect(await harness.client.request(session, LIST, staying())).toEqual(broken);
    expect(seen()).toEqual(['digest 0', 'digest 0']);
  });

  it('a closed port is told as not sent', async () => {
    await start();
    await sandbox.close();
    const outcome = await harness.client.request(tokenSession(sandbox), CREATE, staying());
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'connection', sent: false });
  });

  it('an answer that is no JSON or larger than 4 MiB is no answer', async () => {
    await start();
    const noBody = { kind: 'unavailable', reason: 'body', sent: true };
    sandbox.garbage = true;
    expect(await harness.client.request(tokenSession(sandbox), LIST, staying())).toEqual(noBody);
    sandbox.garbage = false;
    sandbox.padBytes = 4 * 1024 * 1024;
    expect(await harness.client.request(tokenSession(sandbox), LIST, staying())).toEqual(noBody);
    sandbox.padBytes = 3 * 1024 * 1024;
    expect(await harness.client.request(tokenSession(sandbox), LIST, staying())).toMatchObject({ kind: 'ok' });
  });

  it('a redirect is not followed, so that no credential goes to another host', async () => {
    await start();
    const elsewhere = await startSandbox({ clock });
    sandbox.redirectTo = `${elsewhere.serverlessUrl}/v1beta1/clusters`;
    const outcome = await harness.client.request(tokenSession(sandbox), LIST, staying());
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'status', sent: true });
    expect(await harness.client.validate(keySession(sandbox), staying())).toEqual({ kind: 'unavailable' });
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  it('a caller who goes away ends the request upstream, and nothing more is sent', async () => {
    await start();
    sandbox.hang = true;
    const caller = new AbortController();
    const pending = harness.client.request(tokenSession(sandbox), LIST, caller.signal);
    await expect.poll(() => sandbox.requests.length).toBe(1);
    caller.abort();
    expect(await pending).toEqual({ kind: 'unavailable', reason: 'aborted', sent: true });
    const gone = await harness.client.request(tokenSession(sandbox), LIST, caller.signal);
    expect(gone).toEqual({ kind: 'unavailable', reason: 'aborted', sent: false });
    expect(sandbox.requests).toHaveLength(1);
  });

  it('requests beyond the 64 connections wait, can be aborted while they wait, and were then never sent', async () => {
    await start();
    sandbox.hang = true;
    const session = tokenSession(sandbox);
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = Array.from({ length: 64 }, () =>
      harness.client.request(session, LIST, AbortSignal.any([running.signal])),
    );
    await expect.poll(() => sandbox.requests.length).toBe(64);
    const second = Array.from({ length: 16 }, () =>
      harness.client.request(session, LIST, AbortSignal.any([waiting.signal])),
    );
    waiting.abort();
    for (const outcome of await Promise.all(second)) expect(outcome).toMatchObject({ reason: 'aborted', sent: false });
    running.abort();
    for (const outcome of await Promise.all(first)) expect(outcome).toMatchObject({ reason: 'aborted', sent: true });
    sandbox.hang = false;
    expect(await harness.client.request(session, LIST, staying())).toMatchObject({ kind: 'ok' });
    expect(sandbox.requests).toHaveLength(65);
  });

  it('more than 1,024 requests at once fail at once', async () => {
    await start({}, 1000);
    sandbox.hang = true;
    const session = tokenSession(sandbox);
    const pending = Array.from({ length: 1024 }, () => harness.client.request(session, LIST, staying()));
    const outcome = await harness.client.request(session, LIST, staying());
    expect(outcome).toEqual({ kind: 'unavailable', reason: 'connection', sent: false });
    await harness.client.onApplicationShutdown();
    await Promise.all(pending);
  });
});

describe('Shutting down', () => {
  it('breaks what still runs and lets nothing new out', async () => {
    await start();
    sandbox.hang = true;
    const pending = harness.client.request(tokenSession(sandbox), LIST, staying());
    await expect.poll(() => sandbox.requests.length).toBe(1);
    await harness.client.onApplicationShutdown();
    expect(await pending).toEqual({ kind: 'unavailable', reason: 'connection', sent: true });
    const late = await harness.client.request(tokenSession(sandbox), LIST, staying());
    expect(late).toEqual({ kind: 'unavailable', reason: 'connection', sent: false });
  });
});
