import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Identifier } from '../../src/auth/identify.js';
import { ClientAddressReader } from '../../src/client-ip/client-address.js';
import { Admission } from '../../src/limits/admission.js';
import { GlobalLayer } from '../../src/limits/global-layer.js';
import { PreauthLayer } from '../../src/limits/preauth-layer.js';
import { TenantLayer } from '../../src/limits/tenant-layer.js';
import { bucketRate } from '../../src/limits/token-bucket.js';
import type { RequestContext } from '../../src/request/request-context.js';

/** A million takes half a minute. */
const FLOOD = Number(process.env['FUZZ_ADDRESSES'] ?? 250_000);
const MAX_KEYS = 20_000;

/** Bytes of live objects; what is only waiting for the collector does not count. */
function heap(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

/** The layers of a server whose clock a test moves, with a global bucket that refuses nothing. */
function layers() {
  const clock = { ms: 1_000_000 };
  const preauth = new PreauthLayer({
    address: bucketRate(1, 5),
    gateway: bucketRate(50, 100),
    maxKeys: MAX_KEYS,
    secret: 'x',
  });
  const tenant = new TenantLayer({ rate: bucketRate(5, 20), maxProven: 100, maxShared: 1 });
  const quota = { tryCount: () => 1, uncount: () => undefined, isExhausted: () => false, secondsToReset: () => 1 };
  let overflowed = 0;
  const admission = new Admission(
    { preauth, tenant, quota, global: new GlobalLayer(bucketRate(1e9, 1e9), 1) },
    {
      monotonicMs: () => clock.ms,
      isProven: () => false,
      refused: () => undefined,
      overflowed: () => (overflowed += 1),
    },
  );
  return { clock, preauth, tenant, admission, overflowed: () => overflowed };
}

const reader = new ClientAddressReader({ header: undefined, depth: 1, ipv6Prefix: 64, gateways: [] });
const identifier = new Identifier({
  sharedTokens: [],
  maxAddresses: 1,
  otherSecrets: [],
  serverCredential: undefined,
});
const socket = { remoteAddress: '127.0.0.1' };

/** The context of a request from the i-th address with the i-th fake key. */
function request(i: number): RequestContext {
  const address =
    i % 2 === 0
      ? `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
      : `2001:db8:${(i >> 12).toString(16)}:${(i & 4095).toString(16)}::1`;
  const client = reader.read({ headers: { 'x-forwarded-for': `6.6.6.6, ${address}` }, socket });
  const identity = identifier.identify(
    { rawHeaders: ['Authorization', `Bearer fake${i}:secret${i}`] },
    false,
    client.key,
    1,
  );
  const taken = { preauth: -1, tenant: -1, quota: -1, global: -1 };
  return {
    surface: 'v1',
    client,
    identity,
    call: true,
    proven: undefined,
    stage: 'new',
    refusal: undefined,
    taken,
  } as unknown as RequestContext;
}

describe('A flood of addresses, each with a fake key of its own', () => {
  it('takes the memory of the ceiling, and the last of them is limited like the first', () => {
    const { admission, preauth, tenant, clock, overflowed } = layers();
    for (let i = 0; i < MAX_KEYS * 2; i += 1) admission.passAll(request(i));
    const before = heap();
    let admitted = 0;
    for (let i = 0; i < FLOOD; i += 1) {
      if (admission.passAll(request(i + MAX_KEYS * 2)) === undefined) admitted += 1;
    }
    expect(preauth.count(clock.ms)).toBeLessThanOrEqual(MAX_KEYS + 256);
    expect(tenant.count(clock.ms)).toBe(0);
    expect(overflowed()).toBeGreaterThan(FLOOD / 2);
    // At one moment nothing refills: 256 overflow buckets of five are all that there is beside the full map.
    expect(admitted).toBeLessThanOrEqual(256 * 5);
    expect(heap() - before).toBeLessThan(10 * 1024 * 1024);
  }, 60_000);

  it('leaves nothing behind once its buckets have refilled', () => {
    const { admission, preauth, clock } = layers();
    for (let i = 0; i < 100_000; i += 1) admission.passAll(request(i));
    clock.ms += 6_000;
    expect(preauth.count(clock.ms)).toBe(0);
  });
});
