import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, bearer, callTool, rpc } from '../support/test-server.js';
import { waitUntil } from '../support/wait-until.js';
import { credential, type Deployment, DEPLOYABLE, startDeployment } from './deployment.js';
import { ADMIN_TOKEN } from './processes.js';

const fingerprint = (index: number) =>
  createHash('sha256')
    .update(`api-key\n${credential(index)}`)
    .digest('hex');

/** A request as it is written, which fetch would tidy up; from one of the loopback addresses, each another caller. */
function send(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  localAddress?: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, headers, agent: false, localAddress };
    request(options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    })
      .on('error', reject)
      .end();
  });
}

const tally = (statuses: readonly number[]) =>
  Object.fromEntries([...new Set(statuses)].map((one) => [one, statuses.filter((s) => s === one).length]));

describe.skipIf(!DEPLOYABLE.available)(`two instances behind nginx with docker/nginx.conf${DEPLOYABLE.note}`, () => {
  let deployed: Deployment;
  const scan = (localAddress: string, headers: (index: number) => Record<string, string> = () => ({})) =>
    Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        return (await send(deployed.nginx.port, '/v1/clusters', headers(index), localAddress)).status;
      }),
    );
  const sumOf = async (sample: string): Promise<number> => {
    const ports = deployed.instances.map(({ port }) => port);
    const texts = await Promise.all(
      ports.map((port) => ask(`http://127.0.0.1:${port}/metrics`, bearer(ADMIN_TOKEN)).then(({ text }) => text)),
    );
    const lines = texts.flatMap((text) => text.split('\n')).filter((line) => line.startsWith(sample));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  };

  beforeAll(async () => {
    // Pre-auth is as shipped: 1 a second, burst 5, at each of the two instances.
    deployed = await startDeployment({
      TIDB_MCP_DAILY_QUOTA: '40',
      TIDB_MCP_QUOTA_FLUSH_SECONDS: '1',
      TIDB_MCP_SHUTDOWN_GRACE_SECONDS: '0',
      // Bursts of scans in these tests must not meet the global layer.
      TIDB_MCP_GLOBAL_BURST: '1000',
    });
  }, 90_000);
  afterAll(() => deployed?.stop(), 60_000);

  it('serve calls from both instances, each tenant with what it is called by', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => ask(`${deployed.url}/v1/capabilities`, bearer(credential(0)))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(6).fill(200));
    const servers = new Set(answers.map((answer) => answer.json().server.instanceId));
    expect(servers.size).toBe(2);
  });

  it("read each caller's own address, so that a scanner does not use up another caller's budget", async () => {
    const refused = (await scan('127.0.0.21')).filter((status) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(18);
    expect((await send(deployed.nginx.port, '/v1/clusters', {}, '127.0.0.22')).status).toBe(401);
  });

  it('give a scanner that rotates X-Forwarded-For one budget, not one a request', async () => {
    const claim = (index: number) => ({ 'x-forwarded-for': `198.51.100.${index}, 203.0.113.${index}` });
    const statuses = await scan('127.0.0.23', claim);
    expect(Object.keys(tally(statuses)).sort()).toEqual(['401', '429']);
    expect(tally(statuses)[429]).toBeGreaterThanOrEqual(18);
  });

  it("do not let anyone drain a victim's budget by asserting its address", async () => {
    await scan('127.0.0.24', () => ({ 'x-forwarded-for': '127.0.0.25' }));
    expect((await send(deployed.nginx.port, '/v1/clusters', {}, '127.0.0.25')).status).toBe(401);
  });

  it('take the address of every call from X-Forwarded-For', async () => {
    const before = await sumOf('tidb_mcp_client_ip_total{source="forwarded"}');
    await scan('127.0.0.26');
    await waitUntil('the counts are rendered', async () => {
      return (await sumOf('tidb_mcp_client_ip_total{source="forwarded"}')) >= before + 30;
    });
    expect(await sumOf('tidb_mcp_client_ip_total{source="socket"}')).toBe(0);
  });

  it('share one daily quota', async () => {
    const { database, url, instances } = deployed;
    const stored = async () => {
      const [row] = await database.query(`SELECT calls FROM quota_usage WHERE tenant = '${fingerprint(1)}'`);
      return Number(row?.['calls'] ?? 0);
    };
    const counts = { admitted: 0, refusedInARow: 0 };
    while (counts.admitted < 80 && counts.refusedInARow < 4) {
      const { status } = await ask(`${url}/v1/capabilities`, bearer(credential(1)));
      counts.refusedInARow = status === 429 ? counts.refusedInARow + 1 : 0;
      counts.admitted += status === 200 ? 1 : 0;
      if (counts.admitted % 10 === 0 || counts.admitted > 35) {
        await waitUntil('what was counted is stored', async () => (await stored()) === counts.admitted);
      }
    }
    // Two quotas of 40 that are not shared would be 80.
    expect(counts.admitted).toBeGreaterThanOrEqual(40);
    expect(counts.admitted).toBeLessThan(60);
    const headers = { ...bearer(credential(1)).headers, 'x-forwarded-for': '127.0.0.9' };
    for (const { port } of instances) {
      const refused = await ask(`http://127.0.0.1:${port}/v1/capabilities`, { headers });
      expect([refused.status, refused.json().code]).toEqual([429, 'TENANT_QUOTA_EXHAUSTED']);
    }
  }, 60_000);

  it('keep metrics to themselves however they are asked for, and answer readiness', async () => {
    const paths = ['/metrics', '/metrics/', '/%6Detrics', '//metrics', '/v1/../metrics', '/metrics?x', '/./metrics'];
    for (const path of paths) {
      const { status, text } = await send(deployed.nginx.port, path, bearer(ADMIN_TOKEN).headers);
      expect([path, status]).toEqual([path, 404]);
      expect(text).not.toContain('tidb_mcp_');
    }
    expect((await ask(`${deployed.url}/health/ready`)).status).toBe(200);
  });

  it('answer on /mcp, pass a refusal on unchanged, and a body that is too long gets the answer of the server', async () => {
    const called = await ask(
      `${deployed.url}/mcp`,
      rpc(callTool('tidb_list_clusters', { pageSize: 1 }), credential(2)),
    );
    expect(called.status).toBe(200);
    expect(called.text).toContain('structuredContent');
    const long = await ask(`${deployed.url}/mcp`, rpc(callTool('x', { text: 'x'.repeat(1_500_000) }), credential(2)));
    expect([long.status, long.json().error.data.code]).toEqual([413, 'BODY_TOO_LARGE']);
    const refused = await ask(`${deployed.url}/mcp`, rpc(callTool('tidb_capabilities'), credential(1)));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.json().error.data).toMatchObject({ limit: 'quota' });
  });
});
