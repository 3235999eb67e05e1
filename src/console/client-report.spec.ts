import { describe, expect, it } from 'vitest';
import { clientReport } from './client-report.js';
import type { Sample } from './history.js';

const sample = (clientIp: Partial<Sample['clientIp']>): Sample => ({
  atMs: 0,
  refused: { preauth: 0, tenant: 0, quota: 0, global: 0 },
  admitted: 0,
  clientIp: { header: 0, forwarded: 0, socket: 0, fallback: 0, ...clientIp },
  upstream: {},
  latency: [],
});

describe('What the console says of client addresses', () => {
  it('names the declared source, and counts within the window what came from it and what fell back', () => {
    const samples = [
      sample({ header: 10, fallback: 1 }),
      sample({ header: 15, fallback: 1 }),
      sample({ header: 40, fallback: 4 }),
    ];
    const report = clientReport({ clientIpHeader: 'X-Real-IP', trustedProxyDepth: 0 }, samples);
    expect(report).toEqual({ declaredSource: 'X-Real-IP', declared: 30, fallback: 3 });
  });

  it('names the place in X-Forwarded-For', () => {
    const samples = [sample({}), sample({ forwarded: 2 })];
    const report = clientReport({ clientIpHeader: undefined, trustedProxyDepth: 2 }, samples);
    expect(report).toEqual({ declaredSource: 'X-Forwarded-For, 2 from the right', declared: 2, fallback: 0 });
  });

  it('says that none is declared where connections count', () => {
    const report = clientReport({ clientIpHeader: undefined, trustedProxyDepth: 0 }, [
      sample({}),
      sample({ socket: 7 }),
    ]);
    expect(report).toEqual({ declaredSource: null, declared: 7, fallback: 0 });
  });
});
