import type { Clock } from '../clock/clock.js';
import { systemClock } from '../clock/clock.module.js';
import type { OfferedAlgorithm } from './digest-gate.js';
import { DEFAULT_KEY, KeyRing, type SandboxKey, subjectOf } from './keys.js';
import { SandboxApi, type ApiSettings, USERINFO_PATH } from './sandbox-api.js';
import { SandboxServer, type Faults, type LoggedRequest } from './sandbox-server.adapter.js';

/** How a sandbox starts; everything has a default. */
export interface SandboxOptions {
  /** Each with an organization and data of its own. */
  readonly keys?: readonly SandboxKey[];
  readonly clock?: Clock;
  readonly digestAlgorithm?: OfferedAlgorithm;
  /** 300 by default. */
  readonly nonceLifeSeconds?: number;
  /** TiDB Cloud's own limit for each key over both hosts; 100 by default. */
  readonly rateLimitPerMinute?: number;
  /** How long creating, restoring, resetting and deleting take; 20 by default. */
  readonly provisioningSeconds?: number;
}

/**
 * TiDB Cloud's API in miniature, over real HTTP on two ephemeral loopback ports (one a host), in process; for the demo
 * and for tests.
 *
 * It imitates: HTTP Digest with MD5 and SHA-256 (`qop=auth`, nonce expiry, nonce counts, `stale`) and OAuth bearer
 * tokens with a userinfo endpoint; the limit of 100 requests a minute and key with its headers; clusters, branches,
 * backups, restores, regions and projects with the fields, parameters, filters, paging and error bodies of TiDB Cloud's
 * documents; states that progress by the clock.
 *
 * It does not imitate: imports, exports, SQL users, root passwords, batch calls, dedicated clusters, `orderBy`, roles,
 * billing, the real ceilings of an organization, or a database behind the endpoints. Where the documents are silent it
 * guesses: a change that the target's state forbids is a 409 with code 10, view `BASIC` leaves out how to connect, and
 * the gateway's errors (401, 429) have one shape on both hosts. Unsigned requests are challenged and never counted.
 */
export class Sandbox implements Faults, ApiSettings {
  outage = false;
  hang = false;
  slowMs = 0;
  reset = false;
  garbage = false;
  padBytes = 0;
  redirectTo: string | undefined = undefined;
  staleFlag = true;
  digestAlgorithm: OfferedAlgorithm;
  nonceLifeMs: number;
  /** What has been asked, the newest last; the last 10,000. */
  readonly requests: LoggedRequest[] = [];
  /** The first key's halves, its token, and whose that is. */
  readonly publicKey: string;
  readonly privateKey: string;
  readonly token: string | undefined;
  readonly subject: string;
  /** Base URLs, without `/v1beta1`; set by {@link startSandbox}. */
  serverlessUrl = '';
  iamUrl = '';
  private readonly keys: KeyRing;
  private readonly api: SandboxApi;
  private readonly servers: readonly [SandboxServer, SandboxServer];

  constructor(options: SandboxOptions) {
    const { keys = [DEFAULT_KEY], clock = systemClock, rateLimitPerMinute = 100, provisioningSeconds = 20 } = options;
    const first = keys[0] ?? DEFAULT_KEY;
    this.publicKey = first.publicKey;
    this.privateKey = first.privateKey;
    this.token = first.token;
    this.subject = subjectOf(first);
    this.digestAlgorithm = options.digestAlgorithm ?? 'MD5';
    this.nonceLifeMs = (options.nonceLifeSeconds ?? 300) * 1000;
    this.keys = new KeyRing(keys, clock, { provisioningMs: provisioningSeconds * 1000 });
    this.api = new SandboxApi(this, this.keys, clock, rateLimitPerMinute);
    this.servers = [this.server('serverless'), this.server('iam')];
  }

  /** Opens both ports. */
  async listen(): Promise<void> {
    [this.serverlessUrl, this.iamUrl] = await Promise.all([this.servers[0].listen(), this.servers[1].listen()]);
  }

  /** From now on the key (and its token) is answered 401, as one that was deleted. */
  rejectKey(publicKey: string): void {
    this.keys.setStanding(publicKey, 'rejected');
  }

  /** From now on the key is answered 403, as one that may do nothing. */
  forbidKey(publicKey: string): void {
    this.keys.setStanding(publicKey, 'forbidden');
  }

  /** Undoes {@link rejectKey} and {@link forbidKey}. */
  acceptKey(publicKey: string): void {
    this.keys.setStanding(publicKey, 'good');
  }

  /**
   * A new OAuth access token of the first key's organization: a JWT, as a refresh hands one out.
   * @param claims what its payload says, true or not; the userinfo endpoint goes by `subject`
   */
  issueToken(subject: string, claims: object = { sub: subject }): string {
    return this.keys.issueToken(this.publicKey, subject, claims);
  }

  /** From now on the OAuth token is unknown, as one that was revoked or has expired. */
  revokeToken(token: string): void {
    this.keys.revokeToken(token);
  }

  /** Where the subjects of OAuth tokens are told. */
  get userinfoUrl(): string {
    return this.iamUrl + USERINFO_PATH;
  }

  /** Makes every Digest nonce in use unknown. */
  forgetNonces(): void {
    this.api.forgetNonces();
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.close()));
  }

  private server(host: 'serverless' | 'iam'): SandboxServer {
    return new SandboxServer(host, this, this.requests, (request) => this.api.handle(request));
  }
}

/** Starts a sandbox and resolves once both its ports are open. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = new Sandbox(options);
  await sandbox.listen();
  return sandbox;
}
