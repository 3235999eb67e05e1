import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../clock/clock.js';
import { startSandbox, type Sandbox } from './sandbox.adapter.js';

let nowMs: number;
let sandbox: Sandbox;
const clock: Clock = { monotonicMs: () => nowMs, utcMs: () => Date.UTC(2026, 10, 29, 12) + nowMs };

beforeEach(async () => {
  nowMs = 0;
  const keys = [
    { publicKey: 'ONE', privateKey: 'one', token: 'token-one' },
    { publicKey: 'TWO', privateKey: 'two', token: 'token-two' },
  ];
  sandbox = await startSandbox({ clock, keys, rateLimitPerMinute: 5 });
});

afterEach(() => sandbox.close());

function get(path: string, token = 'token-one'): Promise<Response> {
  return fetch(`${sandbox.serverlessUrl}/v1beta1/${path}`, { headers: { authorization: `Bearer ${token}` } });
}

describe('The sandbox', () => {
  it('gives every key an organization of its own', async () => {
    const ids = await Promise.all(
      ['token-one', 'token-two'].map(async (token) => {
        const body = (await (await get('clusters?pageSize=1', token)).json()) as { clusters: { clusterId: string }[] };
        return body.clusters[0]?.clusterId ?? '';
      }),
    );
    expect(ids[0]).toMatch(/^\d{19}$/);
    expect(ids[0]).not.toBe(ids[1]);
    expect((await get(`clusters/${ids[1]}`)).status).toBe(404);
  });

  it('limits each key over both hosts, in windows of a minute, and says so in headers', async () => {
    const iam = `${sandbox.iamUrl}/v1beta1/projects`;
    nowMs = 15_500;
    await fetch(iam, { headers: { authorization: 'Bearer token-one' } });
    const second = await get('regions');
    expect(second.headers.get('x-ratelimit-remaining-minute')).toBe('3');
    expect(second.headers.get('x-ratelimit-reset')).toBe('45');
    for (let call = 0; call < 3; call += 1) await get('regions');
    const limited = await get('regions');
    expect(limited.status).toBe(429);
    expect(limited.headers.get('x-ratelimit-limit-minute')).toBe('5');
    expect((await get('regions', 'token-two')).status).toBe(200);
    nowMs = 60_000;
    expect((await get('regions')).status).toBe(200);
  });

  it('challenges a request without a credential, counts it for nobody and tells it nothing', async () => {
    const response = await fetch(`${sandbox.serverlessUrl}/v1beta1/clusters`);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Digest realm="TiDB Cloud, Open API", qop="auth"/);
    expect(response.headers.get('x-ratelimit-limit-minute')).toBeNull();
    expect(sandbox.requests).toEqual([
      {
        host: 'serverless',
        method: 'GET',
        path: '/v1beta1/clusters',
        query: '',
        scheme: 'none',
        status: 401,
        publicKey: null,
      },
    ]);
  });

  it('lets the cluster that is being created become active', async () => {
    const states = async (): Promise<string> =>
      JSON.stringify(await (await get('clusters?filter=state=CREATING')).json());
    expect(await states()).toContain('sandbox-tests');
    nowMs = 20_000;
    expect(await states()).not.toContain('sandbox-tests');
  });

  it('answers unknown paths and methods in the same form as all else', async () => {
    expect(await (await get('clusters/1/nothing')).json()).toEqual({ code: 5, message: 'path not found', details: [] });
    const put = await fetch(`${sandbox.serverlessUrl}/v1beta1/clusters`, {
      method: 'PUT',
      headers: { authorization: 'Bearer token-one' },
    });
    expect(put.status).toBe(405);
    expect(await (await get('clusters/%zz')).json()).toMatchObject({ code: 3 });
    expect(await (await get('?/../?#')).json()).toMatchObject({ code: 5 });
    const broken = await fetch(`${sandbox.serverlessUrl}/v1beta1/clusters`, {
      method: 'POST',
      body: '{',
      headers: { authorization: 'Bearer token-one' },
    });
    expect(broken.status).toBe(400);
  });

  it('takes a key back in after it was rejected or forbidden', async () => {
    sandbox.rejectKey('ONE');
    expect((await get('regions')).status).toBe(401);
    sandbox.forbidKey('ONE');
    expect((await get('regions')).status).toBe(403);
    sandbox.acceptKey('ONE');
    expect((await get('regions')).status).toBe(200);
    expect(() => sandbox.rejectKey('THREE')).toThrow('no key THREE');
  });

  it('closes also while a request hangs', async () => {
    sandbox.hang = true;
    const pending = get('regions').catch(() => 'closed');
    await expect.poll(() => sandbox.requests.length).toBe(1);
    await sandbox.close();
    expect(await pending).toBe('closed');
  });
});
