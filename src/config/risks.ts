import { isLoopback } from './cidr.js';
import type { Config } from './config.js';
import { variableName as name } from './settings.js';

/** The longest wait that TiDB Cloud's own limit (100 requests a minute) asks for. */
const UPSTREAM_WAIT_SECONDS = 60;

type Risk = (config: Config) => string | undefined;

const RISKS: readonly Risk[] = [
  addressUnknown,
  addressWritable,
  unprovenTakeAll,
  everyoneIsGateway,
  gatewayBudgetSmaller,
  callersWalkTheirPrefix,
  anyHost,
  onlyLoopbackHosts,
  metricsOpen,
  sharedTokensMayChange,
  countsForgotten,
  proofsForgotten,
  upstreamInClear,
  rotatingTokensApart,
  confirmTooShort,
  telemetryOff,
];

/** What works as configured and may still not be what the operator wants, with what to do about it. */
export function risks(config: Config): string[] {
  return RISKS.map((risk) => risk(config)).filter((risk) => risk !== undefined);
}

const exposed = (config: Config): boolean => !isLoopback(config.host);
const readsHeader = (config: Config): boolean => config.clientIpHeader !== undefined || config.trustedProxyDepth > 0;

function addressUnknown(config: Config): string | undefined {
  if (!exposed(config) || readsHeader(config)) return undefined;
  return `The server listens on ${config.host} without a declared source of the client address. Behind a proxy, set ${name('clientIpHeader')} or ${name('trustedProxyDepth')}; where callers connect directly, this is right.`;
}

function addressWritable(config: Config): string | undefined {
  if (!exposed(config) || !readsHeader(config)) return undefined;
  return `The server listens on ${config.host} and takes the client address from a header. Whoever reaches it around the proxy writes that header: make sure that only the proxy can connect.`;
}

function unprovenTakeAll(config: Config): string | undefined {
  if (config.globalUnprovenShare < 1) return undefined;
  return `${name('globalUnprovenShare')}=1 lets requests without a proven credential use up the whole global bucket; 0.5 keeps half of it for tenants while somebody scans.`;
}

function everyoneIsGateway(config: Config): string | undefined {
  const wide = config.gatewayIps.find((block) => {
    const [address = '', prefix] = block.split('/');
    return prefix !== undefined && Number(prefix) < (address.includes(':') ? 16 : 8);
  });
  if (wide === undefined) return undefined;
  return `${name('gatewayIps')} lists ${wide}, which gives a good part of the Internet the larger proving budget.`;
}

function gatewayBudgetSmaller(config: Config): string | undefined {
  if (config.gatewayRps >= config.preauthRps && config.gatewayBurst >= config.preauthBurst) return undefined;
  return `The gateways' budget (${config.gatewayRps} per second, burst ${config.gatewayBurst}) is smaller than everybody's (${config.preauthRps}, ${config.preauthBurst}).`;
}

function callersWalkTheirPrefix(config: Config): string | undefined {
  if (config.ipv6Prefix <= 64) return undefined;
  return `${name('ipv6Prefix')}=${config.ipv6Prefix} gives one IPv6 caller, who usually has a whole /64, many pre-auth buckets.`;
}

function anyHost(config: Config): string | undefined {
  if (!config.allowedHosts.includes('*')) return undefined;
  return `Any Host header is accepted. List the names that callers use in ${name('allowedHosts')} as a defence against DNS rebinding.`;
}

function onlyLoopbackHosts(config: Config): string | undefined {
  if (!readsHeader(config) || !config.allowedHosts.every(isLoopbackName)) return undefined;
  return `The client address comes from a proxy, and ${name('allowedHosts')} has loopback names only (${config.allowedHosts.join(', ')}): a request for any other Host gets 403. List the names that callers use, unless the proxy sends a loopback name as Host.`;
}

function isLoopbackName(host: string): boolean {
  return isLoopback(host.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
}

function metricsOpen(config: Config): string | undefined {
  if (!exposed(config) || config.adminToken !== undefined) return undefined;
  return `/metrics is open to everybody who reaches ${config.host} (totals only). ${name('adminToken')} closes it.`;
}

function sharedTokensMayChange(config: Config): string | undefined {
  if (config.v1Tokens.length === 0 || config.readOnly) return undefined;
  return `Every holder of a shared /v1 token may change and delete whatever the server's own key may. A key with fewer rights, or ${name('readOnly')}=true, prevents that.`;
}

function countsForgotten(config: Config): string | undefined {
  if (config.controlDbUrl.toLowerCase() !== 'sqlite::memory:') return undefined;
  return 'The control database is in memory: daily counts and confirmations end with the process and are shared with no other instance.';
}

function proofsForgotten(config: Config): string | undefined {
  if (!config.persistProof || config.controlDbUrl.toLowerCase() !== 'sqlite::memory:') return undefined;
  return `${name('persistProof')}=true keeps nothing where the control database is in memory: every start makes each tenant prove itself again.`;
}

function upstreamInClear(config: Config): string | undefined {
  const open = [config.serverlessApiUrl, config.iamApiUrl, config.oauthUserinfoUrl ?? config.iamApiUrl].find((url) => {
    const { protocol, hostname } = new URL(url);
    return protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
  });
  return open === undefined ? undefined : `OAuth tokens go to ${open} unencrypted.`;
}

function rotatingTokensApart(config: Config): string | undefined {
  if (config.oauthIssuer === undefined || config.oauthUserinfoUrl !== undefined) return undefined;
  return `Clients are sent to ${config.oauthIssuer} for OAuth tokens, and each refreshed token has a bucket and a day of its own: ${name('oauthUserinfoUrl')} makes all tokens of one subject one tenant.`;
}

function confirmTooShort(config: Config): string | undefined {
  const longest = longestWaitSeconds(config);
  if (config.confirmTtlSeconds >= longest) return undefined;
  return `A preflight lives for ${config.confirmTtlSeconds} s and a rate limit may ask to wait for ${longest} s: raise ${name('confirmTtlSeconds')}, or a refused confirm can't be retried in time.`;
}

/** The longest `Retry-After` of any rate limit that a confirm can meet; the day's quota is no rate limit. */
function longestWaitSeconds(config: Config): number {
  const unprovenTokens = config.globalBurst * (1 - config.globalUnprovenShare) + 1;
  const waits = [
    1 / config.preauthRps,
    1 / config.tenantRps,
    unprovenTokens / config.globalRps,
    ...(config.gatewayIps.length > 0 ? [1 / config.gatewayRps] : []),
    UPSTREAM_WAIT_SECONDS,
  ];
  return Math.ceil(Math.max(...waits));
}

function telemetryOff(config: Config): string | undefined {
  return config.telemetry === 'off'
    ? `${name('telemetry')}=off: nobody is told of refusals, proofs and calls, only counted totals remain.`
    : undefined;
}
