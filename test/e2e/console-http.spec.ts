import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSOLE_ROUTES } from '../../src/console/console-assets.adapter.js';
import type { ConsoleReport } from '../../src/console/console-report.js';
import { ask, bearer, startTestServer, type TestServer } from '../support/test-server.js';

const TOKEN = 'the-operators-own-token';

describe('The console without an admin token', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  it.each(['/console', '/console/data', '/console/console.js'])('is off, and says so at %s', async (path) => {
    const answer = await ask(`${server.url}${path}`);
    expect(answer.status).toBe(404);
    expect(answer.json().error.message).toContain('TIDB_MCP_ADMIN_TOKEN');
  });
});

describe('The console', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ TIDB_MCP_ADMIN_TOKEN: TOKEN });
  });
  afterAll(() => server.stop());

  const data = async (): Promise<ConsoleReport> => {
    server.clock.advance(1_000);
    const answer = await ask(`${server.url}/console/data`, bearer(TOKEN));
    expect(answer.status).toBe(200);
    return answer.json();
  };

  it('serves every file of its page for free, under a policy that lets nothing in from elsewhere', async () => {
    for (const route of CONSOLE_ROUTES) {
      const url = `${server.url}/console${route === '' ? '' : `/${route}`}`;
      const answer = await ask(url);
      expect([url, answer.status]).toEqual([url, 200]);
      expect(answer.text.length).toBeGreaterThan(100);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'self'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      const etag = answer.headers.get('etag') ?? '';
      expect((await ask(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
    }
    const before = (await data()).totals.refused;
    for (let i = 0; i < 40; i += 1) expect((await ask(`${server.url}/console`)).status).toBe(200);
    expect((await data()).totals.refused).toEqual(before);
  });

  it('leads whoever types a slash at the end to the page, for free', async () => {
    for (let i = 0; i < 20; i += 1) {
      const answer = await ask(`${server.url}/console/`, { redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).toEqual([308, '../console']);
    }
    const followed = await fetch(`${server.url}/console/`);
    expect([followed.status, followed.url]).toEqual([200, `${server.url}/console`]);
    expect(await followed.text()).toBe((await ask(`${server.url}/console`)).text);
  });

  it('names no other host in any of its files', async () => {
    for (const route of CONSOLE_ROUTES.filter((name) => !name.startsWith('chart.umd'))) {
      const { text } = await ask(`${server.url}/console${route === '' ? '' : `/${route}`}`);
      expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:\/\/|\burl\(|@import/);
    }
  });

  it('is still an unknown path for other methods and other files, which pay', async () => {
    server.clock.advance(10_000);
    expect((await ask(`${server.url}/console`, { method: 'POST' })).status).toBe(405);
    expect((await ask(`${server.url}/console/package.json`)).status).toBe(404);
    expect((await ask(`${server.url}/console//`)).status).toBe(404);
    const statuses = [];
    for (let i = 0; i < 4; i += 1) statuses.push((await ask(`${server.url}/console/package.json`)).status);
    expect(statuses).toEqual([404, 404, 429, 429]);
  });

  it('keeps its data from whoever lacks the token, at the price of pre-auth', async () => {
    server.clock.advance(10_000);
    const statuses = [];
    for (let i = 0; i < 6; i += 1) {
      statuses.push((await ask(`${server.url}/console/data`, i === 0 ? {} : bearer(`${TOKEN}x`))).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await data()).totals.refused.preauth).toBeGreaterThan(0);
  });

  it('tells what happened, and of a tenant its first twelve digits alone', async () => {
    server.clock.advance(10_000);
    const key = `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
    const call = () => ask(`${server.url}/v1/capabilities`, bearer(key));
    for (let i = 0; i < 24; i += 1) await call();
    const report = await data();
    expect(report.totals).toMatchObject({ refused: { tenant: 3 }, admitted: 21 });
    expect(report.provenCredentials).toBe(1);
    expect(report.upstream.outcomes).toEqual([{ outcome: 'ok', requests: 1, lastSeenSeconds: 0 }]);
    expect(report.upstream.health).toBe('answering');
    expect(report.quota).toMatchObject({ degraded: false, connected: true, liveInstances: 1, tenantsToday: 1 });
    expect(report.quota.tenants).toEqual([{ tenant: expect.stringMatching(/^[0-9a-f]{12}$/), used: 21, limit: 5000 }]);
    const text = JSON.stringify(report);
    for (const secret of [server.sandbox.publicKey, server.sandbox.privateKey, TOKEN, '127.0.0.1']) {
      expect(text).not.toContain(secret);
    }
    expect(text).not.toMatch(/[0-9a-f]{64}/);
  });

  it('tells from where client addresses are read, and how many were not', async () => {
    const proxied = await startTestServer({ TIDB_MCP_ADMIN_TOKEN: TOKEN, TIDB_MCP_CLIENT_IP_HEADER: 'X-Real-IP' });
    const headers = { 'x-real-ip': '203.0.113.7' };
    for (let i = 0; i < 3; i += 1) await ask(`${proxied.url}/v1/capabilities`, { headers });
    await ask(`${proxied.url}/v1/capabilities`);
    const report = (await ask(`${proxied.url}/console/data`, bearer(TOKEN))).json<ConsoleReport>();
    await proxied.stop();
    expect(report.clients).toMatchObject({ declaredSource: 'x-real-ip', declared: 3 });
    expect(report.clients.fallback).toBeGreaterThanOrEqual(1);
    expect(JSON.stringify(report)).not.toContain('203.0.113.7');
  });

  it('renders its data once a second, however many look', async () => {
    server.clock.advance(1_000);
    const texts = await Promise.all(
      Array.from({ length: 20 }, async () => (await ask(`${server.url}/console/data`, bearer(TOKEN))).text),
    );
    await ask(`${server.url}/v1/capabilities`, bearer(`${server.sandbox.publicKey}:${server.sandbox.privateKey}`));
    texts.push((await ask(`${server.url}/console/data`, bearer(TOKEN))).text);
    expect(new Set(texts).size).toBe(1);
    expect((await data()).totals.admitted).toBe(22);
  });
});
