import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { DigestGate, type DigestSettings } from './digest-gate.js';

const KEYS: Readonly<Record<string, string>> = { pub: 'priv' };
let settings: { -readonly [K in keyof DigestSettings]: DigestSettings[K] };
let gate: DigestGate;

beforeEach(() => {
  settings = { digestAlgorithm: 'MD5', nonceLifeMs: 1000 };
  gate = new DigestGate(settings, (publicKey) => KEYS[publicKey]);
});

interface Signing {
  user?: string;
  password?: string;
  uri?: string;
  nc?: string;
  method?: string;
  qop?: string;
}

/** Signs against a challenge of the gate, as RFC 7616 has it. */
function sign(
  challenge: string,
  { user = 'pub', password = 'priv', uri = '/a?b=c', nc = '00000001', method = 'GET', qop = 'auth' }: Signing = {},
): string {
  const param = (name: string): string => new RegExp(`${name}="?([^",]*(?:, Open API)?)`).exec(challenge)?.[1] ?? '';
  const algorithm = param('algorithm');
  const hash = (text: string): string =>
    createHash(algorithm === 'SHA-256' ? 'sha256' : 'md5')
      .update(text)
      .digest('hex');
  const [realm, nonce] = [param('realm'), param('nonce')];
  const response = hash(`${hash(`${user}:${realm}:${password}`)}:${nonce}:${nc}:c:${qop}:${hash(`${method}:${uri}`)}`);
  return (
    `Digest username="${user}", realm="${realm}", nonce="${nonce}", uri="${uri}", response="${response}", ` +
    `algorithm=${algorithm}, opaque="${param('opaque')}", qop=${qop}, nc=${nc}, cnonce="c"`
  );
}

function challengeOf(algorithm = 'MD5'): string {
  return gate.challenge(0, false).find((text) => text.includes(`algorithm=${algorithm}`)) ?? '';
}

function verify(header: string, nowMs = 0): string {
  return gate.verify(header, 'GET', '/a?b=c', nowMs).kind;
}

describe("The sandbox's side of Digest", () => {
  it.each(['MD5', 'SHA-256'] as const)('accepts a signature with %s', (algorithm) => {
    settings.digestAlgorithm = algorithm;
    expect(gate.verify(sign(challengeOf(algorithm)), 'GET', '/a?b=c', 0)).toEqual({
      kind: 'accepted',
      publicKey: 'pub',
    });
  });

  it('offers both algorithms under one nonce', () => {
    settings.digestAlgorithm = 'both';
    const [md5 = '', sha256 = ''] = gate.challenge(0, false);
    expect(verify(sign(md5))).toBe('accepted');
    expect(verify(sign(sha256, { nc: '00000002' }))).toBe('accepted');
  });

  it.each<[string, Signing]>([
    ['an unknown key', { user: 'nobody' }],
    ['a wrong private key', { password: 'wrong' }],
    ['another target', { uri: '/a' }],
    ['another method', { method: 'POST' }],
    ['another quality of protection', { qop: 'auth-int' }],
    ['a count that is none', { nc: '1' }],
  ])('finds %s wrong', (_title, signing) => {
    expect(verify(sign(challengeOf(), signing))).toBe('wrong');
  });

  it('finds a count stale that comes twice, and takes one that comes late', () => {
    const challenge = challengeOf();
    expect(verify(sign(challenge, { nc: '00000002' }))).toBe('accepted');
    expect(verify(sign(challenge, { nc: '00000001' }))).toBe('accepted');
    expect(verify(sign(challenge, { nc: '00000002' }))).toBe('stale');
  });

  it('finds an old nonce stale, and one that it never issued', () => {
    const header = sign(challengeOf());
    expect(verify(header, 1000)).toBe('stale');
    gate.forgetNonces();
    expect(verify(header, 0)).toBe('stale');
  });

  it('says stale=true where it is told to', () => {
    expect(gate.challenge(0, true)[0]).toContain('stale=true');
    expect(gate.challenge(0, false)[0]).not.toContain('stale');
  });
});
