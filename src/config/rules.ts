import type { Config } from './config.js';
import { type Settings, variableName } from './settings.js';
import { shownValue } from './shown-value.js';

/** Settings of which those that could not be read are missing; a rule about a missing one says nothing. */
type Read = Partial<Settings>;

const RULES: readonly ((read: Read) => string | undefined)[] = [
  bothHalvesOfTheKey,
  keyForSharedTokens,
  roomForUnproven,
  adminTokenOfItsOwn,
  urlForTheIssuersClients,
];

/** What is wrong between settings that are right by themselves, each as `NAME=value: what is wrong, what is allowed`. */
export function crossProblems(read: Read): string[] {
  return RULES.map((rule) => rule(read)).filter((problem) => problem !== undefined);
}

function bothHalvesOfTheKey(read: Read): string | undefined {
  if (!('tidbCloudPublicKey' in read) || !('tidbCloudPrivateKey' in read)) return undefined;
  const { tidbCloudPublicKey: publicKey, tidbCloudPrivateKey: privateKey } = read;
  const rest = 'allowed: both halves of the key or neither';
  if (publicKey !== undefined && privateKey === undefined) {
    return `TIDB_CLOUD_PUBLIC_KEY=${shownValue(publicKey, false)}: has no TIDB_CLOUD_PRIVATE_KEY beside it, ${rest}`;
  }
  if (publicKey === undefined && privateKey !== undefined) {
    return `TIDB_CLOUD_PRIVATE_KEY=***: has no TIDB_CLOUD_PUBLIC_KEY beside it, ${rest}`;
  }
  return undefined;
}

function keyForSharedTokens(read: Read): string | undefined {
  if (!('tidbCloudPublicKey' in read) || !('tidbCloudPrivateKey' in read) || !read.v1Tokens?.length) return undefined;
  if (read.tidbCloudPublicKey !== undefined || read.tidbCloudPrivateKey !== undefined) return undefined;
  return (
    "TIDB_MCP_V1_TOKENS=***: works upstream with the server's own key and there is none, " +
    'allowed: only together with TIDB_CLOUD_PUBLIC_KEY and TIDB_CLOUD_PRIVATE_KEY'
  );
}

function roomForUnproven({ globalUnprovenShare: share, globalBurst }: Read): string | undefined {
  if (share === undefined || globalBurst === undefined || share * globalBurst >= 1) return undefined;
  return (
    `${variableName('globalUnprovenShare')}=${share}: leaves no request to callers that prove themselves, ` +
    `allowed: at least ${1 / globalBurst}, so that this share of TIDB_MCP_GLOBAL_BURST=${globalBurst} is 1 or more`
  );
}

function adminTokenOfItsOwn({ adminToken, v1Tokens }: Read): string | undefined {
  if (adminToken === undefined || !v1Tokens?.includes(adminToken)) return undefined;
  return 'TIDB_MCP_ADMIN_TOKEN=***: is one of TIDB_MCP_V1_TOKENS, allowed: a token of its own, or every caller of /v1 is an operator';
}

function urlForTheIssuersClients(read: Read): string | undefined {
  if (read.oauthIssuer === undefined || !('publicUrl' in read) || read.publicUrl !== undefined) return undefined;
  return (
    `TIDB_MCP_OAUTH_ISSUER=${shownValue(read.oauthIssuer, false)}: has no TIDB_MCP_PUBLIC_URL beside it, ` +
    'allowed: only together with the URL under which callers reach this server'
  );
}

/** What an operator of the HTTP server is told at every start. */
export function startupWarnings(config: Config): string[] {
  return [...addressWarnings(config), ...shadowWarnings(config)];
}

/** Decision 0022. */
function shadowWarnings({ shadow }: Config): string[] {
  if (shadow.length === 0) return [];
  const preauth = shadow.includes('preauth') ? " (preauth: up to a gateway's budget)" : '';
  return [
    `TIDB_MCP_SHADOW=${shadow.join(',')}: ${shadow.length === 1 ? 'this layer is' : 'these layers are'} watched and not enforced${preauth}. ` +
      'Take it out once the numbers are tried.',
  ];
}

/** Spec: "Where the client address comes from". */
function addressWarnings(config: Config): string[] {
  const header = config.clientIpHeader;
  if (header !== undefined && config.trustedProxyDepth > 0) {
    return [
      `Both TIDB_MCP_CLIENT_IP_HEADER=${header} and TIDB_MCP_TRUSTED_PROXY_DEPTH=${config.trustedProxyDepth} are set: the header wins, the depth has no effect.`,
    ];
  }
  if (header !== undefined || config.trustedProxyDepth > 0) return [];
  return [
    'Neither TIDB_MCP_CLIENT_IP_HEADER nor TIDB_MCP_TRUSTED_PROXY_DEPTH names a source: the client address is the address of the connection. ' +
      'Behind a proxy or a load balancer every caller without a proven credential then shares one pre-auth bucket.',
  ];
}
