import { describe, expect, it } from 'vitest';
import { createCluster, getCluster, listProjects } from '../../src/tidb-cloud/endpoints.js';
import { clientStage, CREATE, keySession, LIST, staying, tokenSession } from './harness.js';

const stage = clientStage();

describe('Calling TiDB Cloud with an API key', () => {
  it.each(['MD5', 'SHA-256', 'both'] as const)('signs with %s and reads the answer', async (digestAlgorithm) => {
    await stage.start({ digestAlgorithm });
    const outcome = await stage.client.request(keySession(stage.sandbox), LIST, staying());
    expect(outcome).toMatchObject({ kind: 'ok', value: { totalSize: 25 } });
    expect(stage.seen()).toEqual(['none 401', 'digest 200']);
    expect(stage.observed).toEqual(['ok']);
  });

  it('reuses the nonce: one request a call after the first', async () => {
    await stage.start();
    const session = keySession(stage.sandbox);
    for (let call = 0; call < 4; call += 1) await stage.client.request(session, LIST, staying());
    expect(stage.seen()).toEqual(['none 401', 'digest 200', 'digest 200', 'digest 200', 'digest 200']);
  });

  it('keeps nonces by host, and works side by side under one nonce', async () => {
    await stage.start();
    const session = keySession(stage.sandbox);
    await stage.client.request(session, LIST, staying());
    await stage.client.request(session, listProjects({}), staying());
    stage.sandbox.requests.length = 0;
    const calls = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? LIST : listProjects({})));
    const outcomes = await Promise.all(calls.map((call) => stage.client.request(session, call, staying())));
    expect(outcomes.every(({ kind }) => kind === 'ok')).toBe(true);
    expect(stage.seen()).toEqual(Array.from({ length: 20 }, () => 'digest 200'));
  });

  it.each([true, false])('signs again when the nonce has expired (stale flag: %s)', async (staleFlag) => {
    await stage.start({ nonceLifeSeconds: 60 });
    stage.sandbox.staleFlag = staleFlag;
    const session = keySession(stage.sandbox);
    await stage.client.request(session, LIST, staying());
    stage.clock.advanceSeconds(61);
    stage.sandbox.requests.length = 0;
    expect(await stage.client.request(session, LIST, staying())).toMatchObject({ kind: 'ok' });
    expect(stage.seen()).toEqual(['digest 401', 'digest 200']);
  });

  it('signs a third time where the nonce was stale at once, and gives up on a second stale', async () => {
    await stage.start({ nonceLifeSeconds: 0 });
    const session = keySession(stage.sandbox);
    expect(await stage.client.validate(session, staying())).toEqual({ kind: 'unavailable' });
    expect(stage.seen()).toEqual(['none 401', 'digest 401', 'digest 401']);
  });

  it('notices that a key was revoked, also under a kept nonce', async () => {
    await stage.start();
    const session = keySession(stage.sandbox);
    await stage.client.request(session, LIST, staying());
    stage.sandbox.rejectKey(stage.sandbox.publicKey);
    stage.sandbox.requests.length = 0;
    expect(await stage.client.request(session, LIST, staying())).toEqual({ kind: 'rejected' });
    expect(stage.seen()).toEqual(['digest 401', 'digest 401']);
  });

  it('sends the body of a change once, and only signed', async () => {
    await stage.start();
    const session = keySession(stage.sandbox);
    expect(await stage.client.request(session, CREATE, staying())).toMatchObject({
      kind: 'ok',
      value: { displayName: 'new-cluster', state: 'CREATING' },
    });
    expect(stage.seen()).toEqual(['none 401', 'digest 200']);
    const outcome = await stage.client.request(session, LIST, staying());
    expect(outcome).toMatchObject({ value: { totalSize: 26 } });
  });

  it('tells apart what TiDB Cloud refuses', async () => {
    await stage.start();
    const session = keySession(stage.sandbox);
    const bad = createCluster({ displayName: 'x', region: { name: 'regions/aws-us-east-1' } });
    expect(await stage.client.request(session, getCluster('1'), staying())).toEqual({ kind: 'not-found' });
    expect(await stage.client.request(session, bad, staying())).toMatchObject({ kind: 'invalid' });
    stage.sandbox.forbidKey(stage.sandbox.publicKey);
    expect(await stage.client.request(session, LIST, staying())).toMatchObject({ kind: 'forbidden' });
    expect(await stage.client.request(session, listProjects({}), staying())).toMatchObject({ kind: 'forbidden' });
  });

  it('refuses an id that could reach another path without asking anybody', async () => {
    await stage.start();
    expect(await stage.client.request(keySession(stage.sandbox), getCluster('..'), staying())).toMatchObject({
      kind: 'invalid',
    });
    expect(stage.seen()).toEqual([]);
  });
});

describe('Calling TiDB Cloud with an OAuth token', () => {
  it('sends one request a call', async () => {
    await stage.start();
    expect(await stage.client.request(tokenSession(stage.sandbox), LIST, staying())).toMatchObject({ kind: 'ok' });
    expect(stage.seen()).toEqual(['bearer 200']);
  });

  it('takes a 401 for a rejection', async () => {
    await stage.start();
    expect(await stage.client.request(tokenSession(stage.sandbox, 'other'), LIST, staying())).toEqual({
      kind: 'rejected',
    });
    expect(stage.seen()).toEqual(['bearer 401']);
  });
});

describe('Validating a credential', () => {
  it('accepts a key and a token that TiDB Cloud accepts', async () => {
    await stage.start();
    expect(await stage.client.validate(keySession(stage.sandbox), staying())).toEqual({ kind: 'accepted' });
    expect(await stage.client.validate(tokenSession(stage.sandbox), staying())).toEqual({ kind: 'accepted' });
    const [first] = stage.sandbox.requests;
    expect(first).toMatchObject({ host: 'serverless', method: 'GET', path: '/v1beta1/clusters', query: 'pageSize=1' });
  });

  it('accepts a key that is known but may do nothing', async () => {
    await stage.start();
    stage.sandbox.forbidKey(stage.sandbox.publicKey);
    expect(await stage.client.validate(keySession(stage.sandbox), staying())).toEqual({ kind: 'accepted' });
    expect(await stage.client.validate(tokenSession(stage.sandbox), staying())).toEqual({ kind: 'accepted' });
  });

  it('rejects a wrong private key, an unknown public key and an unknown token', async () => {
    await stage.start();
    const unknown = { credential: { kind: 'api-key', publicKey: 'NOBODY', privateKey: 'x' } } as const;
    expect(await stage.client.validate(keySession(stage.sandbox, 'wrong'), staying())).toEqual({ kind: 'rejected' });
    expect(await stage.client.validate(unknown, staying())).toEqual({ kind: 'rejected' });
    expect(await stage.client.validate(tokenSession(stage.sandbox, 'other'), staying())).toEqual({ kind: 'rejected' });
  });

  it.each(['outage', 'garbage', 'reset'] as const)('says neither yes nor no in case of: %s', async (fault) => {
    await stage.start();
    stage.sandbox[fault] = true;
    expect(await stage.client.validate(keySession(stage.sandbox), staying())).toEqual({ kind: 'unavailable' });
    expect(await stage.client.validate(tokenSession(stage.sandbox), staying())).toEqual({ kind: 'unavailable' });
  });

  it("tells the wait for TiDB Cloud's own limit, and asks again all the same", async () => {
    await stage.start({ rateLimitPerMinute: 1 });
    const session = keySession(stage.sandbox);
    expect(await stage.client.validate(session, staying())).toEqual({ kind: 'accepted' });
    const limited = { kind: 'unavailable', retryAfterSeconds: 30 };
    expect(await stage.client.validate(session, staying())).toEqual(limited);
    expect(await stage.client.validate(session, staying())).toEqual(limited);
    expect(stage.seen()).toEqual(['none 401', 'digest 200', 'digest 429', 'digest 429']);
  });
});
