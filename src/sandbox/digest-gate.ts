import { createHash, randomBytes } from 'node:crypto';

/** What a server can offer; `both` offers SHA-256 and MD5 under one nonce. */
export type OfferedAlgorithm = 'MD5' | 'SHA-256' | 'both';

/** What the gate makes of an `Authorization: Digest` header. */
export type DigestVerdict =
  | { readonly kind: 'accepted'; readonly publicKey: string }
  /** The signature is right, but its nonce is unknown, too old, or this count of it has been used. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'wrong' };

/** How a {@link DigestGate} behaves; read at every request, so that tests can switch it. */
export interface DigestSettings {
  readonly digestAlgorithm: OfferedAlgorithm;
  /** Life of a nonce. */
  readonly nonceLifeMs: number;
}

const REALM = 'TiDB Cloud, Open API';
const MAX_NONCES = 10_000;
const MAX_USES = 10_000;

interface Nonce {
  readonly expiresAtMs: number;
  readonly usedCounts: Set<string>;
}

/** The server's side of HTTP Digest with `qop=auth` for one host. RFC 7616. */
export class DigestGate {
  private readonly nonces = new Map<string, Nonce>();
  private readonly opaque = randomBytes(8).toString('hex');

  constructor(
    private readonly settings: DigestSettings,
    private readonly privateKeyOf: (publicKey: string) => string | undefined,
  ) {}

  /** The `WWW-Authenticate` values of a 401, with a new nonce. */
  challenge(monotonicMs: number, stale: boolean): string[] {
    const nonce = randomBytes(18).toString('base64');
    this.nonces.set(nonce, { expiresAtMs: monotonicMs + this.settings.nonceLifeMs, usedCounts: new Set() });
    if (this.nonces.size > MAX_NONCES) this.nonces.delete(this.nonces.keys().next().value ?? '');
    return this.offered().map(
      (algorithm) =>
        `Digest realm="${REALM}", qop="auth", algorithm=${algorithm}, nonce="${nonce}", opaque="${this.opaque}"` +
        (stale ? ', stale=true' : ''),
    );
  }

  /** Forgets every nonce, as a server does that restarts. */
  forgetNonces(): void {
    this.nonces.clear();
  }

  /** Checks a header against the request that it came with. */
  verify(header: string, method: string, target: string, monotonicMs: number): DigestVerdict {
    const params = parseDigestParams(header);
    const publicKey = params.get('username') ?? '';
    const privateKey = this.privateKeyOf(publicKey);
    const nonce = params.get('nonce') ?? '';
    const count = params.get('nc') ?? '';
    const wellFormed =
      params.get('realm') === REALM &&
      params.get('uri') === target &&
      params.get('opaque') === this.opaque &&
      params.get('qop') === 'auth' &&
      /^[0-9a-f]{8}$/.test(count) &&
      (params.get('cnonce') ?? '') !== '' &&
      this.offered().includes(params.get('algorithm') ?? 'MD5');
    if (!wellFormed || privateKey === undefined) return { kind: 'wrong' };
    if (params.get('response') !== expectedResponse(params, privateKey, method)) return { kind: 'wrong' };
    const known = this.nonces.get(nonce);
    if (known === undefined || known.expiresAtMs <= monotonicMs) return { kind: 'stale' };
    // Side by side, requests overtake each other: a count may come late, but never twice.
    if (known.usedCounts.has(count) || known.usedCounts.size >= MAX_USES) return { kind: 'stale' };
    known.usedCounts.add(count);
    return { kind: 'accepted', publicKey };
  }

  private offered(): string[] {
    const { digestAlgorithm } = this.settings;
    return digestAlgorithm === 'both' ? ['MD5', 'SHA-256'] : [digestAlgorithm];
  }
}

function expectedResponse(params: ReadonlyMap<string, string>, privateKey: string, method: string): string {
  const hash = (text: string): string =>
    createHash(params.get('algorithm') === 'SHA-256' ? 'sha256' : 'md5')
      .update(text)
      .digest('hex');
  const get = (name: string): string => params.get(name) ?? '';
  const key = hash(`${get('username')}:${REALM}:${privateKey}`);
  const target = hash(`${method}:${get('uri')}`);
  return hash([key, get('nonce'), get('nc'), get('cnonce'), get('qop'), target].join(':'));
}

function parseDigestParams(header: string): Map<string, string> {
  const params = new Map<string, string>();
  for (const match of header.matchAll(/([a-z*]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi)) {
    params.set((match[1] ?? '').toLowerCase(), match[2]?.replaceAll(/\\(.)/g, '$1') ?? match[3] ?? '');
  }
  return params;
}
