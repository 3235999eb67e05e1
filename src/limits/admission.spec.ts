import { beforeEach, describe, expect, it } from 'vitest';
import type { Identity } from '../request/credential.js';
import type { ClientAddress, RequestContext } from '../request/request-context.js';
import { Admission, type DailyQuota } from './admission.js';
import { GlobalLayer } from './global-layer.js';
import { PreauthLayer } from './preauth-layer.js';
import { TenantLayer } from './tenant-layer.js';
import { bucketRate } from './token-bucket.js';

const identity = (name: string): Identity => ({
  kind: 'api-key',
  fingerprint: name,
  tenant: name,
  credential: { kind: 'api-key', publicKey: name, privateKey: 'x' },
});
const client = (key: string, gateway?: string): ClientAddress => ({
  address: key,
  key,
  network: key.slice(0, key.lastIndexOf('.')),
  source: 'socket',
  gateway,
});

let now: number;
let used: Map<string, number>;
let refusals: string[];
let overflowed: number;
let proven: Set<string>;

const quota: DailyQuota = {
  tryCount: (tenant) => (quota.isExhausted(tenant) ? -1 : (used.set(tenant, (used.get(tenant) ?? 0) + 1), 7)),
  uncount: (tenant) => void used.set(tenant, used.get(tenant)! - 1),
  isExhausted: (tenant) => (used.get(tenant) ?? 0) >= 30,
  secondsToReset: () => 3600,
};

function admission(options: { global?: [number, number]; share?: number; maxKeys?: number } = {}): Admission {
  const layers = {
    preauth: new PreauthLayer({
      address: bucketRate(1, 5),
      gateway: bucketRate(50, 100),
      maxKeys: options.maxKeys ?? 1000,
      secret: 's',
    }),
    tenant: new TenantLayer({ rate: bucketRate(5, 20), maxProven: 10, maxShared: 10 }),
    quota,
    global: new GlobalLayer(bucketRate(...(options.global ?? [100, 200])), options.share ?? 1),
  };
  return new Admission(layers, {
    monotonicMs: () => now,
    isProven: ({ fingerprint }) => proven.has(fingerprint),
    refused: (_, { limit }) => void refusals.push(limit),
    overflowed: () => void (overflowed += 1),
  });
}

function request(from: ClientAddress, name?: string, call = true): RequestContext {
  return {
    surface: 'mcp',
    modern: false,
    client: from,
    identity: name === undefined ? undefined : identity(name),
    call,
    proven: undefined,
    askedAtMs: undefined,
    stage: 'new',
    refusal: undefined,
    taken: { preauth: -1, tenant: -1, quota: -1, global: -1 },
    tenant: undefined,
    answerHeaders: [],
    signal: new AbortController().signal,
  };
}

const here = client('1.2.3.4');
const served = (one: Admission, count: number, make: () => RequestContext): number => {
  let admitted = 0;
  for (let i = 0; i < count; i += 1) if (one.passAll(make()) === undefined) admitted += 1;
  return admitted;
};

beforeEach(() => {
  now = 1000;
  used = new Map();
  refusals = [];
  overflowed = 0;
  proven = new Set(['tenant']);
});

describe('The four layers', () => {
  it('let an unproven caller send a burst of five and then one a second, credential or not', () => {
    const one = admission();
    let fake = 0;
    expect(served(one, 40, () => request(here, `fake-${(fake += 1)}`))).toBe(5);
    expect(served(one, 40, () => request(here))).toBe(0);
    now += 1000;
    expect(served(one, 40, () => request(here, `fake-${(fake += 1)}`))).toBe(1);
    expect(new Set(refusals)).toEqual(new Set(['preauth']));
  });

  it('let a proven credential send a burst of twenty and then five a second, whatever its address', () => {
    const one = admission();
    let host = 0;
    expect(served(one, 40, () => request(client(`9.9.9.${(host += 1)}`), 'tenant'))).toBe(20);
    now += 1000;
    expect(served(one, 40, () => request(here, 'tenant'))).toBe(5);
  });

  it('stop a proven credential at its daily quota, but only its calls', () => {
    const one = admission();
    used.set('tenant', 29);
    expect(one.passAll(request(here, 'tenant'))).toBeUndefined();
    expect(one.passAll(request(here, 'tenant'))).toEqual({ limit: 'quota', retryAfterSeconds: 3600 });
    expect(one.passAll(request(here, 'tenant', false))).toBeUndefined();
    expect(used.get('tenant')).toBe(30);
  });

  it('stop everybody at the ceiling of the instance', () => {
    const one = admission({ global: [1, 3] });
    let host = 0;
    expect(served(one, 10, () => request(client(`9.9.9.${(host += 1)}`)))).toBe(3);
    expect(one.passAll(request(here, 'tenant'))).toEqual({ limit: 'global', retryAfterSeconds: 1 });
  });

  it('are asked in their order: a tenant over its limit hears of that and spends nothing shared', () => {
    const one = admission({ global: [1, 25] });
    served(one, 20, () => request(here, 'tenant'));
    expect(served(one, 100, () => request(here, 'tenant'))).toBe(0);
    expect(new Set(refusals)).toEqual(new Set(['tenant']));
    proven.add('other');
    expect(served(one, 5, () => request(here, 'other'))).toBe(5);
  });

  it('charge nothing for a request that a later layer refuses', () => {
    const one = admission({ global: [1, 1] });
    served(one, 1, () => request(here));
    for (let i = 0; i < 50; i += 1) {
      expect(one.passAll(request(here))?.limit).toBe('global');
      expect(one.passAll(request(here, 'tenant'))?.limit).toBe('global');
    }
    expect(used.get('tenant')).toBe(0);
    now += 20_000;
    expect(one.passAll(request(here, 'tenant'))).toBeUndefined();
    const roomy = admission();
    expect(served(roomy, 40, () => request(here))).toBe(5);
  });

  it('give back what the tenant layer took when the quota refuses', () => {
    const one = admission();
    used.set('tenant', 30);
    for (let i = 0; i < 50; i += 1) one.passAll(request(here, 'tenant'));
    expect(new Set(refusals)).toEqual(new Set(['quota']));
    expect(served(one, 40, () => request(here, 'tenant', false))).toBe(20);
  });

  it('let unproven requests draw the global bucket down by their share only, and say when they may', () => {
    const one = admission({ global: [1, 10], share: 0.5 });
    let host = 0;
    const stranger = () => request(client(`9.9.9.${(host += 1)}`));
    expect(served(one, 10, stranger)).toBe(5);
    expect(one.passAll(stranger())).toEqual({ limit: 'global', retryAfterSeconds: 1 });
    expect(served(one, 10, () => request(here, 'tenant'))).toBe(5);
    expect(one.passAll(stranger())).toEqual({ limit: 'global', retryAfterSeconds: 6 });
    now += 6000;
    expect(one.passAll(stranger())).toBeUndefined();
  });

  it('give a gateway a larger proving budget for each of its addresses, and refuse past it', () => {
    const one = admission();
    expect(served(one, 300, () => request(client('7.7.7.7', '7.7.7.0/24')))).toBe(100);
    expect(served(one, 300, () => request(client('7.7.7.8', '7.7.7.0/24')))).toBe(100);
    expect(served(one, 10, () => request(here))).toBe(0);
    now += 1000;
    expect(served(one, 300, () => request(client('7.7.7.7', '7.7.7.0/24')))).toBe(50);
  });

  it('share overflow buckets among new addresses when no bucket has refilled, by their network', () => {
    const one = admission({ maxKeys: 2 });
    for (const key of ['1.1.1.1', '2.2.2.2']) served(one, 5, () => request(client(key)));
    let host = 0;
    expect(served(one, 40, () => request(client(`9.9.9.${(host += 1)}`)))).toBe(5);
    expect(overflowed).toBe(40);
    now += 5000;
    expect(served(one, 40, () => request(client('9.9.9.1')))).toBe(5);
    expect(overflowed).toBe(40);
  });

  it('share the bucket of their listed block among gateway addresses past the ceiling', () => {
    const one = admission({ maxKeys: 1, global: [1000, 1000] });
    served(one, 100, () => request(client('7.7.7.1', '7.7.7.0/24')));
    let host = 1;
    expect(served(one, 300, () => request(client(`7.7.7.${(host += 1)}`, '7.7.7.0/24')))).toBe(100);
    expect(served(one, 300, () => request(client('8.8.8.8', '8.8.0.0/16')))).toBe(100);
  });
});

describe('Looking ahead', () => {
  it('charges nothing and foretells what the layers say', () => {
    const one = admission();
    for (let i = 0; i < 100; i += 1) expect(one.lookAhead(request(here))).toBeUndefined();
    expect(served(one, 40, () => request(here))).toBe(5);
    expect(one.lookAhead(request(here))).toEqual({ limit: 'preauth', retryAfterSeconds: 1 });
  });

  it('tells of a refusal once, whoever finds it', () => {
    const one = admission();
    served(one, 5, () => request(here));
    const refused = request(here);
    one.lookAhead(refused);
    one.passAll(refused);
    one.refuse(refused, refused.refusal!);
    expect(refusals).toEqual(['preauth']);
  });

  it('charges an admitted request once, however often it is passed', () => {
    const one = admission();
    const admitted = request(here);
    for (let i = 0; i < 10; i += 1) one.passAll(admitted);
    expect(served(one, 40, () => request(here))).toBe(4);
  });
});
