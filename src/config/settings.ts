import { z } from 'zod';
import * as kind from './kinds.js';
import { setHeader } from './kind-client-ip-header.js';
import { controlDbUrl } from './kind-control-db-url.js';
import * as oauth from './kind-oauth.js';
import { listSetting, optional, setting } from './setting.js';

const listening = {
  host: setting(kind.listenHost, '127.0.0.1', 'The address that `serve` listens on.'),
  port: setting(kind.whole(0, 65_535), '8080', 'The port that `serve` listens on; 0 picks a free one and prints it.'),
  allowedHosts: optional(
    kind.hosts,
    'Accepted `Host` headers (a defence against DNS rebinding), compared without the port unless the entry has one. `/health/*` takes any.',
    { unset: 'loopback names when listening on loopback, else `*`' },
  ),
  allowedOrigins: listSetting(
    kind.origins,
    "Browser origins that may call. Any other `Origin` gets 403, `null` too, except the server's own pages on a loopback name or a host listed by name.",
    { unset: 'none' },
  ),
  maxBodyBytes: setting(
    kind.whole(1, 104_857_600, 'bytes'),
    '1048576',
    'The longest request body; a longer one gets 413.',
  ),
  shutdownGraceSeconds: setting(
    kind.seconds(0),
    '5',
    'After SIGTERM readiness is 503 at once and calls are still served for this long, so that a load balancer can notice. Then running requests have 20 s and the last flush 5 s. 0: no grace.',
  ),
};

const limits = {
  preauthRps: setting(
    kind.rate,
    '1',
    'Pre-auth: requests per second of one client address without a proven credential.',
  ),
  preauthBurst: setting(kind.burst, '5', 'Pre-auth: the burst of one client address.'),
  preauthMaxKeys: setting(
    kind.whole(1, 10_000_000),
    '100000',
    'Address buckets kept. Only refilled ones are evicted; when there is none, new addresses share overflow buckets. Gateway addresses have a map of their own with the same ceiling.',
  ),
  gatewayRps: setting(
    kind.rate,
    '50',
    'The larger proving budget of a gateway: requests per second, for each listed address by itself.',
  ),
  gatewayBurst: setting(kind.burst, '100', 'The burst of that budget.'),
  tenantRps: setting(kind.rate, '5', 'Requests per second of one tenant.'),
  tenantBurst: setting(kind.burst, '20', 'The burst of one tenant.'),
  dailyQuota: setting(kind.dailyQuota, '5000', 'Calls of one tenant per UTC day, over all instances.'),
  globalRps: setting(kind.rate, '100', 'Requests per second of the whole instance.'),
  globalBurst: setting(kind.burst, '200', 'The burst of the whole instance.'),
  globalUnprovenShare: setting(
    kind.share,
    '1',
    'How far requests without a proven credential may draw the global bucket down (0.5: to half). The burst times this share must be at least 1. 0.5 keeps room for tenants while somebody scans.',
  ),
  shadow: listSetting(
    kind.layers,
    "Layers that are watched and refuse nothing: what they would have refused is counted in `tidb_mcp_shadow_refusals_total`, to try a new number. Under `preauth` every address has the larger of its own budget and a gateway's, and is refused past that.",
  ),
};

const clientAddress = {
  clientIpHeader: optional(
    setHeader,
    'The header that the proxy SETS to the client address. Wins over the depth if both are given.',
  ),
  trustedProxyDepth: setting(
    kind.whole(0, 32),
    '0',
    'Hops counted from the right of `X-Forwarded-For`: 1 is the last entry, 0 ignores the header. Only where the hop count is fixed and the server is reachable through the proxy alone.',
  ),
  ipv6Prefix: setting(kind.whole(1, 128), '64', 'An IPv6 caller is keyed by this many bits of its address.'),
  gatewayIps: listSetting(
    kind.addressBlocks,
    'Addresses known to front many tenants. They get a larger proving budget, never an exemption.',
  ),
};

const controlDatabase = {
  controlDbUrl: setting(
    controlDbUrl,
    'sqlite:./data/control.db',
    "Where the daily counts and the confirmations are kept. Instances with one database share the quota. On stdio the default is a file in the user's state folder, and memory if that can't be written.",
    { secret: true },
  ),
  quotaFlushSeconds: setting(
    kind.seconds(),
    '30',
    'How often each instance pushes the calls it counted and adopts the shared totals.',
  ),
  quotaRetentionDays: setting(
    kind.whole(2, 3650, 'days'),
    '90',
    "How long rows of past days are kept, by the database's clock.",
  ),
};

const credentials = {
  contextIdleSeconds: setting(
    kind.seconds(),
    '1800',
    'A validated credential is validated again after being idle for this long.',
  ),
  contextMaxAgeSeconds: setting(
    kind.seconds(0),
    '0',
    'A busy credential is validated again after this long and up to a quarter of it more, in the background, so that a revoked key is noticed; at twice this age the next request waits for it. 0: never.',
  ),
  provenTtlSeconds: setting(kind.seconds(), '86400', 'The proof of a credential ends this long after its last use.'),
  provenMax: setting(
    kind.whole(1, 10_000_000),
    '10000',
    'Proven credentials kept, the least recently used dropped first. Shared tokens are counted apart.',
  ),
  persistProof: setting(
    kind.flag,
    'false',
    'Keep proofs in the control database too, by fingerprint: a deploy then makes no tenant prove itself again, and what one instance sees rejected all forget.',
  ),
  v1Tokens: listSetting(
    kind.bearerTokens,
    "Shared bearer tokens of `/v1`. They work upstream with the server's own key, so they need the key pair below. Empty: only tenants' own keys are accepted there.",
    { secret: true },
  ),
  oauthUserinfoUrl: optional(
    oauth.userinfoUrl,
    "The OpenID Connect userinfo endpoint that says whose an OAuth token is, asked with the token at each validation. With it all tokens of one subject are one tenant; while it doesn't answer, OAuth tokens get 503.",
  ),
  oauthIssuer: optional(
    oauth.issuer,
    'The OAuth issuer that clients are pointed to, by protected-resource metadata (RFC 9728) and by `WWW-Authenticate`. Needs `TIDB_MCP_PUBLIC_URL`.',
  ),
  publicUrl: optional(
    oauth.publicUrl,
    'Where callers reach this server, as the metadata name it: behind a proxy that ends TLS the server cannot know.',
  ),
  v1MaxAddresses: setting(
    kind.whole(1, 1_000_000),
    '1000',
    'Client addresses per shared token and UTC day that get an identity of their own; further ones share one.',
  ),
};

const upstream = {
  serverlessApiUrl: setting(
    kind.baseUrl,
    'https://serverless.tidbapi.com',
    'The base of the TiDB Cloud Serverless API.',
  ),
  iamApiUrl: setting(kind.baseUrl, 'https://iam.tidbapi.com', 'The base of the TiDB Cloud IAM API.'),
  upstreamTimeoutMs: setting(
    kind.whole(1, 3_600_000, 'milliseconds'),
    '10000',
    'How long one upstream request may take.',
  ),
  tidbCloudPublicKey: optional(
    kind.publicKey,
    'The public half of the key that `stdio`, and `/v1` under a shared token, work with.',
  ),
  tidbCloudPrivateKey: optional(kind.visibleText, 'The private half of that key.', { secret: true }),
  readOnly: setting(kind.flag, 'false', 'Refuse every operation that changes anything.'),
  confirmTtlSeconds: setting(kind.seconds(), '300', 'How long a preflight can be confirmed.'),
};

const observability = {
  adminToken: optional(
    kind.bearerToken,
    "The bearer token of `/metrics` and of the console's data. Without it `/metrics` is open (totals only) and the console is off.",
    { secret: true },
  ),
  telemetry: setting(
    kind.telemetrySink,
    'stdout',
    'Where telemetry events go, as JSON lines. On the stdio transport standard output belongs to the protocol, so `stdout` means standard error there.',
  ),
  telemetryFloodThreshold: setting(
    kind.whole(1, 1_000_000, 'events'),
    '10',
    'Refusal events a second, per layer and surface, before sampling starts.',
  ),
  telemetryQueueMax: setting(kind.whole(1, 1_000_000, 'events'), '10000', 'Events that may wait for a slow sink.'),
  logLevel: setting(
    kind.choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'The least severe log line that is written.',
  ),
};

/** The settings in the order and under the headings in which people read them. */
export const SETTING_GROUPS = [
  { title: 'Listening', shape: listening },
  { title: 'Limits', shape: limits },
  { title: 'Client address', shape: clientAddress },
  { title: 'Control database', shape: controlDatabase },
  { title: 'Credentials', shape: credentials },
  { title: 'TiDB Cloud', shape: upstream },
  { title: 'Observability', shape: observability },
] as const;

/**
 * Every environment variable of the server, each with its type, default and description: the one home of the
 * configuration. Contract: "Configuration".
 */
export const SettingsSchema = z.object({
  ...listening,
  ...limits,
  ...clientAddress,
  ...controlDatabase,
  ...credentials,
  ...upstream,
  ...observability,
});

/** The settings as they were read, before what depends on others is filled in. */
export type Settings = z.output<typeof SettingsSchema>;

/** The name of a setting in {@link Settings}. */
export type SettingKey = keyof Settings;

/** All names, in the order of the groups. */
export const SETTING_KEYS = Object.keys(SettingsSchema.shape) as SettingKey[];

/**
 * The environment variable of a setting: `preauthRps` is `TIDB_MCP_PREAUTH_RPS`, `tidbCloudPublicKey`
 * `TIDB_CLOUD_PUBLIC_KEY`.
 */
export function variableName(key: SettingKey): string {
  const words = key.replace(/[A-Z]/g, '_$&').toUpperCase();
  return words.startsWith('TIDB_CLOUD_') ? words : `TIDB_MCP_${words}`;
}
