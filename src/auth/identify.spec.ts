import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Identity } from '../request/credential.js';
import { Identifier, type IdentifierOptions, isShared, subjectTenantOf, withTenant } from './identify.js';
import { ProvenCredentials } from './proven-credentials.js';
import { RevalidationTimes } from './revalidation.js';
import { NO_BUCKETS } from './tenant-buckets.js';

const SHARED = 'shared-token-of-the-workspace';
const server = { kind: 'api-key' as const, publicKey: 'server', privateKey: 'secret' };
const identifier = (options: Partial<IdentifierOptions> = {}) =>
  new Identifier({
    sharedTokens: [],
    maxAddresses: 2,
    otherSecrets: [],
    serverCredential: server,
    ...options,
  });
const request = (...authorization: string[]) => ({
  rawHeaders: authorization.flatMap((value) => ['Authorization', value]),
});
const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const print = (header: string, onV1 = false, options: Partial<IdentifierOptions> = {}) =>
  identifier(options).identify(request(header), onV1, '1.2.3.4', 0)?.fingerprint;
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

const half = fc.stringMatching(/^[\x21-\x39\x3b-\x7e]{1,40}$/);

describe('The identity of a credential', () => {
  it('is the SHA-256 of its kind and its canonical text', () => {
    expect(print('Bearer pub:priv')).toBe(sha('api-key\npub:priv'));
    expect(print('Bearer opaque-token')).toBe(sha('oauth\nopaque-token'));
  });

  it('is one, however the key is presented: no spelling buys a second bucket', () => {
    fc.assert(
      fc.property(
        half,
        half,
        fc.mixedCase(fc.constant('bearer')),
        fc.mixedCase(fc.constant('basic')),
        fc.nat(5),
        (pub, priv, bearer, basicScheme, spaces) => {
          const key = `${pub}:${priv}`;
          const gap = ' '.repeat(spaces + 1);
          const encoded = Buffer.from(key).toString('base64');
          const all = [
            `${bearer}${gap}${key}`,
            `${basicScheme}${gap}${encoded}`,
            `${basicScheme}${gap}${encoded.replace(/=+$/, '')}`,
          ].flatMap((header) => [print(header), print(header, true)]);
          expect(new Set(all)).toEqual(new Set([sha(`api-key\n${key}`)]));
        },
      ),
    );
  });

  it('divides a key at its first colon', () => {
    const found = identifier().identify(request('Bearer a:b:c'), false, '', 0);
    expect(found?.credential).toEqual({ kind: 'api-key', publicKey: 'a', privateKey: 'b:c' });
  });

  it('is never the same for two credentials', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(half, half), { minLength: 2, maxLength: 2, selector: (pair) => pair.join(':') }),
        (pairs) => {
          const [a, b] = pairs.map((pair) => print(`Bearer ${pair.join(':')}`));
          expect(a).not.toBe(b);
        },
      ),
    );
  });

  it.each([
    ['no header', undefined],
    ['another scheme', 'Digest username="a"'],
    ['no value', 'Bearer'],
    ['only spaces', 'Bearer   '],
    ['a tab for the space', 'Bearer\ta:b'],
    ['base64 that is none', 'Basic !!!!'],
    ['base64 with too much padding', 'Basic YTpi='],
    ['base64 of an impossible length', 'Basic YTpiY'],
    ['a Basic value without a colon', basic('token')],
    ['an empty public key', basic(':b')],
    ['an empty private key', 'Bearer a:'],
    ['a key with a space in it', basic('a:b c')],
    ['a key beyond ASCII', basic('a:ü')],
    ['a token beyond the alphabet', 'Bearer a,b'],
    ['a credential over 8 KB', `Bearer ${'x'.repeat(8193)}`],
    ['a JWT whose signature has a second spelling', `Bearer ${base64url({ alg: 'x' })}.${base64url({})}.QR`],
    ['a JWT with padding', `Bearer ${base64url({ alg: 'x' })}.${base64url({})}.QQ==`],
  ])('does not exist for %s', (_, header) => {
    expect(identifier().identify(request(...(header === undefined ? [] : [header])), false, '', 0)).toBeUndefined();
  });

  it('takes a canonical JWT, and a dotted token that is none', () => {
    expect(print(`Bearer ${base64url({ alg: 'x' })}.${base64url({})}.QQ`)).toBeDefined();
    expect(print('Bearer a.b.QR')).toBe(sha('oauth\na.b.QR'));
  });

  it('does not exist for two Authorization headers', () => {
    expect(identifier().identify(request('Bearer a:b', 'Bearer c:d'), false, '', 0)).toBeUndefined();
  });

  it('does not exist for a secret of our own, wherever it does not belong', () => {
    const options = { sharedTokens: [SHARED], otherSecrets: ['admin-token-of-ours', 'admin:with-a-colon-in-it'] };
    expect(print(`Bearer ${SHARED}`, false, options)).toBeUndefined();
    expect(print('Bearer admin-token-of-ours', true, options)).toBeUndefined();
    expect(print('Bearer admin:with-a-colon-in-it', false, options)).toBeUndefined();
    expect(print(basic('admin:with-a-colon-in-it'), false, options)).toBeUndefined();
    for (const pair of [`${SHARED}:x`, `x:${SHARED}`, 'admin-token-of-ours:x', 'x:admin-token-of-ours']) {
      expect([print(`Bearer ${pair}`, false, options), print(basic(pair), true, options)]).toEqual([
        undefined,
        undefined,
      ]);
    }
  });
});

describe('A shared token of /v1', () => {
  it('is keyed by the token together with the client address', () => {
    const one = identifier({ sharedTokens: [SHARED] });
    const prints = ['1.1.1.1', '2.2.2.2'].map(
      (key) => one.identify(request(`Bearer ${SHARED}`), true, key, 0)?.fingerprint,
    );
    expect(prints).toEqual([sha(`shared\n${SHARED}\n1.1.1.1`), sha(`shared\n${SHARED}\n2.2.2.2`)]);
  });

  it('works upstream with the key of the server, never with itself', () => {
    const found = identifier({ sharedTokens: [SHARED] }).identify(request(`Bearer ${SHARED}`), true, '1.1.1.1', 0);
    expect(found?.credential).toEqual(server);
  });

  it('leaves the addresses beyond its places one identity, until the next UTC day', () => {
    const one = identifier({ sharedTokens: [SHARED] });
    const accept = (key: string, day: number) => {
      const identity = one.identify(request(`Bearer ${SHARED}`), true, key, day)!;
      return isShared(identity) ? one.settle(identity, day).addressKey : undefined;
    };
    expect(['a', 'b', 'a', 'c', 'd', 'b'].map((key) => accept(key, 5))).toEqual([
      'a',
      'b',
      'a',
      'overflow',
      'overflow',
      'b',
    ]);
    expect(accept('c', 4)).toBe('overflow');
    expect(accept('c', 6)).toBe('c');
  });

  it('gives the last place to one of two addresses that asked at once', () => {
    const one = identifier({ sharedTokens: [SHARED], maxAddresses: 1 });
    const [a, b] = ['a', 'b'].map((key) => one.identify(request(`Bearer ${SHARED}`), true, key, 0)!);
    expect(isShared(a!) && one.settle(a, 0).addressKey).toBe('a');
    expect(isShared(b!) && one.settle(b, 0).addressKey).toBe('overflow');
  });
});

describe('An accepted credential', () => {
  it('is known again however it is presented, until it is dropped', () => {
    const one = identifier();
    const first = one.identify(request('Bearer a:b'), false, '', 0)!;
    expect(one.isAccepted(first)).toBe(false);
    one.accept(first);
    expect(one.isAccepted(first)).toBe(true);
    for (const header of ['bearer  a:b', basic('a:b')]) {
      expect(one.identify(request(header), true, '', 0)).toBe(first);
    }
    one.drop(first);
    expect(one.isAccepted(first)).toBe(false);
    expect(one.identify(request('Bearer a:b'), false, '', 0)).not.toBe(first);
  });

  it('is dropped for all who came with it at the same time, whichever of them was accepted last', () => {
    const one = identifier();
    const [first, second] = [1, 2].map(() => one.identify(request('Bearer a:b'), false, '', 0)!);
    one.accept(first!);
    one.accept(second!);
    expect([first, second].map((identity) => one.isAccepted(identity!))).toEqual([true, true]);
    one.drop(first!);
    expect([first, second].map((identity) => one.isAccepted(identity!))).toEqual([false, false]);
  });

  it('is not known again by its text alone: a token under Basic is no credential', () => {
    const one = identifier();
    one.accept(one.identify(request('Bearer token'), false, '', 0)!);
    expect(one.identify(request(basic('token')), false, '', 0)).toBeUndefined();
  });

  it('is known again as the tenant that the upstream’s answer named, and not otherwise', () => {
    const one = identifier();
    const [first, second] = ['token-one', 'token-two'].map((token) =>
      one.identify(request(`Bearer ${token}`), false, '1.2.3.4', 0)!,
    );
    expect(first!.tenant).toBe(first!.fingerprint);
    const tenant = subjectTenantOf('https://login.example/userinfo', 'mei');
    expect(tenant).toBe(sha('oauth-subject\nhttps://login.example/userinfo\nmei'));
    one.accept(withTenant(first!, tenant));
    const again = one.identify(request('Bearer token-one'), false, '1.2.3.4', 0)!;
    expect([again.tenant, again.fingerprint]).toEqual([tenant, first!.fingerprint]);
    expect(one.identify(request('Bearer token-two'), false, '1.2.3.4', 0)!.tenant).toBe(second!.fingerprint);
    one.drop(again);
    expect(one.identify(request('Bearer token-one'), false, '1.2.3.4', 0)!.tenant).toBe(first!.fingerprint);
  });

  it('is known as its new tenant once the upstream names another', () => {
    const one = identifier();
    const lives = { provenIdleMs: 1000, contextIdleMs: 100, revalidation: new RevalidationTimes(0, () => 0) };
    const accept = one.accept.bind(one);
    const listener = { proven: accept, confirmed: accept, forgotten: () => undefined };
    const proven = new ProvenCredentials(10, lives, NO_BUCKETS, listener);
    const who = (): Identity => one.identify(request('Bearer token-one'), false, '1.2.3.4', 0)!;
    const session = { credential: who().credential };
    for (const tenant of ['before', 'after']) {
      proven.prove({ identity: withTenant(who(), tenant), session }, 0);
      expect([who().tenant, proven.proofOf(who().fingerprint)?.tenant]).toEqual([tenant, tenant]);
    }
  });

  it('is never a shared token, which is told by its match alone', () => {
    const one = identifier({ sharedTokens: [SHARED] });
    const shared = one.identify(request(`Bearer ${SHARED}`), true, '1.2.3.4', 0)!;
    one.accept(shared);
    expect(one.identify(request(`Bearer ${SHARED}`), false, '1.2.3.4', 0)).toBeUndefined();
    expect(one.isAccepted(shared)).toBe(false);
  });
});
