import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask, bearer, startTestServer, type TestServer } from '../support/test-server.js';
import { Random } from './random.js';
import { attack, type Outcome, type ParsedAnswer } from './raw-connection.js';
import { type RawAttack, rawAttack } from './raw-requests.js';

const ATTACKS = Number(process.env['FUZZ_ATTACKS'] ?? 600);
const SEED = Number(process.env['FUZZ_SEED'] ?? 7);
const AT_ONCE = 32;

const PLENTY = {
  TIDB_MCP_DAILY_QUOTA: '1000000000',
  TIDB_MCP_TENANT_BURST: '1000000',
  TIDB_MCP_PREAUTH_BURST: '1000000',
};
const FREE = /^\/(health\/(live|ready)|metrics|docs(\/(favicon-16x16\.png)?)?|openapi\.json)$/;

let server: TestServer;
let key: string;

async function start(env: Record<string, string>): Promise<void> {
  server = await startTestServer({ ...PLENTY, ...env });
  key = `${server.sandbox.publicKey}:${server.sandbox.privateKey}`;
}

/** Runs the attacks of a seed, some at once, and hands each with what came of it to `judge`. */
async function assault(judge: (one: RawAttack, outcome: Outcome, replay: string) => void): Promise<void> {
  for (let first = 0; first < ATTACKS; first += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, ATTACKS - first) }, (_, i) => {
      const one = rawAttack(new Random(SEED * 1_000_003 + first + i), key);
      return attack(server.port, one).then((outcome) => ({ one, outcome, i: first + i }));
    });
    for (const { one, outcome, i } of await Promise.all(batch)) {
      const sent = JSON.stringify(one.chunks.join('')).slice(0, 600);
      judge(one, outcome, `seed ${SEED}, attack ${i}: ${sent}`);
    }
  }
}

const UNREADABLE = /is no HTTP request|did not arrive in time|are too large/;

/** What Node answers by itself: it meets no layer, and the connection is gone. */
const isNodes = ({ status, body, head }: ParsedAnswer): boolean => {
  if (status === 400 && body === '0\r\n\r\n') return /\r\nconnection: close/i.test(head);
  return [400, 408, 431].includes(status) && UNREADABLE.test(body);
};

/** The path of a request-target, as the router reads it. */
function routed(target: string): string {
  const path = target.replace(/^https?:\/\/[^/]*/i, '').replace(/[?#].*$/s, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

let errors: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  errors = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
});
afterEach(() => vi.restoreAllMocks());

describe('Odd bytes', () => {
  beforeAll(() => start({ TIDB_MCP_GLOBAL_BURST: '1000000' }));
  afterAll(() => server.stop());

  it('get an answer or a closed connection, never a fault of ours, and nobody else notices', async () => {
    const seen = new Map<number, number>();
    await assault((_one, { answers, rest, closed }, replay) => {
      for (const answer of answers) {
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
        expect(answer.status, replay).toBeLessThan(500);
        if (isNodes(answer)) continue;
        expect(answer.head, replay).not.toMatch(/\r\n(server|x-powered-by):/i);
        expect(answer.body, replay).not.toMatch(/\bat .*\.(js|ts):\d+|node_modules|"stack"/);
        if (answer.status >= 400 && answer.body !== '')
          expect(() => JSON.parse(answer.body) as unknown, replay).not.toThrow();
      }
      expect([rest, closed], replay).toEqual(['', true]);
    });
    expect(errors.mock.calls).toEqual([]);
    expect((await ask(`${server.url}/v1/capabilities`, bearer(key))).status).toBe(200);
    expect([...seen.keys()]).toEqual(expect.arrayContaining([200, 400, 401, 403, 404, 405, 415, 417]));
  });
});

describe('Odd bytes at an exhausted server', () => {
  const BURST = 20;
  beforeAll(() => start({ TIDB_MCP_GLOBAL_BURST: String(BURST) }));
  afterAll(() => server.stop());

  it('are refused, but for what is free to everybody: nothing escapes the limits', async () => {
    for (let i = 0; i < BURST; i += 1) await ask(`${server.url}/nowhere`);
    const validations = server.sandbox.requests.length;
    let refused = 0;
    await assault((one, { answers }, replay) => {
      for (const answer of answers) {
        if (answer.status === 429) {
          if (!one.leaves) refused += 1;
          expect(answer.head.toLowerCase(), replay).toMatch(/\r\nretry-after: [1-9]\d*\r\n/);
          continue;
        }
        const free =
          isNodes(answer) ||
          (answer.body === '' && one.chunks.join('').includes('HEAD ')) ||
          (answer.status === 403 && answer.body.includes('"FORBIDDEN"')) ||
          (answer.status === 404 && /OAuth metadata|console is off/.test(answer.body)) ||
          ([200, 206, 304].includes(answer.status) && one.targets.some((target) => FREE.test(routed(target))));
        expect([answer.status, free], `${replay}\n${answer.body}`).toEqual([answer.status, true]);
      }
    });
    expect(refused).toBeGreaterThan(ATTACKS / 5);
    expect(server.sandbox.requests).toHaveLength(validations);
    server.clock.advance(1001);
    const metrics = await ask(`${server.url}/metrics`, { headers: { accept: 'application/json' } });
    expect(metrics.json().refusals.global).toBeGreaterThanOrEqual(refused);
  });
});
