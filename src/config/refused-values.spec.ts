import { describe, expect, it } from 'vitest';
import { configOf, parseConfig } from './parse-config.js';
import { SETTING_META } from './setting.js';
import { SETTING_KEYS, type SettingKey, SettingsSchema, variableName } from './settings.js';

/** A value that is wrong, and how what is said of it begins. */
type Bad = readonly [value: string, sentence: string];

const NOT_WHOLE: readonly Bad[] = ['-1', '1.5', '1e3', '0x50', '08', ' 5', 'x', '٣'].map((value) => [
  value,
  'is not a whole number',
]);
const NOT_DECIMAL: readonly Bad[] = ['-1', '1e3', 'Infinity', 'NaN', '.5', '5.', '05', '1,5'].map((value) => [
  value,
  'is not a plain decimal number',
]);

const between = (min: number, max: number): readonly Bad[] => [
  ...NOT_WHOLE,
  ...(min > 0 ? [[String(min - 1), `is below ${min}, allowed: a whole number`] as const] : []),
  [String(max + 1), `is above ${max}, allowed: a whole number`],
];
const rate: readonly Bad[] = [...NOT_DECIMAL, ['0', 'is below 0.000001'], ['9'.repeat(400), 'is above 1000000']];
const burst = between(1, 1_000_000);
const seconds = between(1, 315_360_000);
const flag: readonly Bad[] = ['yes', 'TRUE', '1', 'true '].map((value) => [
  value,
  'is unknown, allowed: true or false',
]);

/** What no http URL may be; all of it but the first two is a URL to a parser that repairs. */
const URL_LIKE: readonly Bad[] = [
  ['login.example.com', 'is not a URL'],
  ['file:///etc/passwd', 'is neither http nor https'],
  ['https:x', 'has no host behind its scheme and two slashes'],
  ['https:/x', 'has no host behind'],
  ['https:///x', 'has no host behind'],
  ['https:\\\\x', 'holds a blank, a backslash'],
  [' https://x', 'holds a blank, a backslash'],
  ['https://x/a b', 'holds a blank, a backslash'],
  ['https://x:0', 'has port 0'],
  ['https://*', 'has a host that is neither a name nor an address'],
  ['https://*.example.com', 'has a host that is neither'],
  ['https://a..b', 'has a host that is neither'],
  ['https://-a', 'has a host that is neither'],
  ['https://1', 'has a host that is neither'],
  ['https://0x7f.1', 'has a host that is neither'],
  ['https://a,b', 'has a host that is neither'],
];
const API_URL: readonly Bad[] = [
  ...URL_LIKE,
  ['https://iam?x=1', 'has a query or a fragment'],
  ['https://iam#x', 'has a query or a fragment'],
  ['https://iam/v1beta1/', 'ends in /v1beta1'],
];

/** Of every variable what is refused; one without an entry does not compile. */
const REFUSED: Record<SettingKey, readonly Bad[]> = {
  host: ['http://x', '999.1.1.1', '0x7f', '127.1', 'a:80', '[::1]', 'a b', '*', 'fe80::1%eth0'].map((value) => [
    value,
    'is neither an address nor a host name',
  ]),
  port: between(0, 65_535),
  allowedHosts: [
    ['a.example,*', 'mixes * with names'],
    ...['http://a.example', 'a/', '*.example', '1.2.3', '0x7f', 'a:0', 'a:65536', 'a@b', '[a]'].map(
      (value) => [value, 'entry 1 is not a host'] as const,
    ),
    ['a.example,', 'entry 2 is not a host'],
  ],
  allowedOrigins: [
    ...['*', 'null', 'a.example', 'https:x', 'https://', 'https://*', 'https://a.example/path', 'https://a:0'].map(
      (value) => [value, 'entry 1 is not an origin'] as const,
    ),
    ...['file://x', 'FILE://x', 'ftp://x', 'ws://x', 'wss://x', 'data://x', 'blob:https://x', 'about:blank'].map(
      (value) => [value, 'entry 1 has a scheme that browsers send no origin of'] as const,
    ),
    ['https://0x7f', 'entry 1 is not an origin'],
    ['https://a.example,file://x', 'entry 2 has a scheme'],
  ],
  maxBodyBytes: between(1, 104_857_600),
  shutdownGraceSeconds: between(0, 315_360_000),
  preauthRps: rate,
  preauthBurst: burst,
  preauthMaxKeys: between(1, 10_000_000),
  gatewayRps: rate,
  gatewayBurst: burst,
  tenantRps: rate,
  tenantBurst: burst,
  dailyQuota: between(1, 1_000_000_000),
  globalRps: rate,
  globalBurst: burst,
  globalUnprovenShare: [...NOT_DECIMAL, ['0', 'is not above 0'], ['1.01', 'is above 1']],
  shadow: [
    ['tenant,quotas', 'entry 2 is no layer, allowed: preauth, tenant, quota and global'],
    ['true', 'entry 1 is no layer'],
  ],
  clientIpHeader: [
    ['client ip', 'is not a header name'],
    ['x-real-ip:', 'is not a header name'],
    ...['X-Forwarded-For', 'Forwarded', 'Via', 'X-Original-Forwarded-For'].map(
      (value) => [value, 'is appended to, and callers can write it, allowed: a header that the proxy sets'] as const,
    ),
    ...['Authorization', 'host', 'Cookie', 'Origin', 'Referer', 'User-Agent', 'Accept', 'Accept-Language', 'From'].map(
      (value) => [value, "is every caller's to write, allowed: a header that the proxy sets, such as fly-"] as const,
    ),
    ...['Content-Type', 'If-None-Match', 'Range', 'Cache-Control', 'Pragma', 'DNT', 'Sec-Fetch-Site', 'Expect'].map(
      (value) => [value, "is every caller's to write"] as const,
    ),
    ...['Connection', 'Keep-Alive', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade', 'Proxy-Authorization'].map(
      (value) => [value, "is every caller's to write"] as const,
    ),
    ...['MCP-Protocol-Version', 'Mcp-Session-Id', 'Mcp-Method', 'Mcp-Param-Ip', 'Last-Event-ID', 'traceparent'].map(
      (value) => [value, "is every caller's to write"] as const,
    ),
  ],
  trustedProxyDepth: between(0, 32),
  ipv6Prefix: between(1, 128),
  gatewayIps: [
    ['10.0.0.0/8,example.com', 'entry 2 is neither an address nor a CIDR block'],
    ['10.0.0.1/8', 'entry 1 has bits set behind its prefix of 8'],
    ['10.0.0.0/33', 'entry 1 has no prefix length from 0 to 32'],
    ['10.0.0.1,', 'entry 2 is neither'],
  ],
  controlDbUrl: [
    ['oracle://root:hunter2@db/x', 'has an unknown scheme'],
    ['mysql://root:hunter2@db', 'names no database'],
  ],
  quotaFlushSeconds: seconds,
  quotaRetentionDays: between(2, 3650),
  contextIdleSeconds: seconds,
  contextMaxAgeSeconds: between(0, 315_360_000),
  provenTtlSeconds: seconds,
  provenMax: between(1, 10_000_000),
  persistProof: flag,
  v1Tokens: [
    ['a-secret', 'entry 1 is shorter than 16 characters'],
    ['a secret with blanks', "entry 1 is outside RFC 6750's token alphabet"],
    ['a-secret-of-16-characters,another secret of blanks', "entry 2 is outside RFC 6750's"],
    ['public:private-of-16', "entry 1 is outside RFC 6750's"],
  ],
  oauthUserinfoUrl: [
    ...URL_LIKE,
    ['https://login.example.com/userinfo#me', 'has a fragment'],
    ['https://user:@login.example.com', 'holds a credential'],
  ],
  oauthIssuer: [
    ...URL_LIKE,
    ['http://login.example.com', 'is http beyond loopback, allowed: an https URL'],
    ['https://login.example.com/?a=b', 'has a query or a fragment'],
  ],
  publicUrl: [
    ...URL_LIKE,
    ['http://mcp.example.com', 'is http beyond loopback'],
    ['https://mcp.example.com/mcp', 'is more than scheme, host and port'],
  ],
  v1MaxAddresses: between(1, 1_000_000),
  serverlessApiUrl: API_URL,
  iamApiUrl: API_URL,
  upstreamTimeoutMs: between(1, 3_600_000),
  tidbCloudPublicKey: [
    ['pub lic', 'holds a space'],
    ['public:private', 'holds a colon'],
  ],
  tidbCloudPrivateKey: [
    ['pri vate', 'holds a space'],
    ['schlüssel', 'holds a space, a control character or something beyond ASCII'],
  ],
  readOnly: flag,
  confirmTtlSeconds: seconds,
  adminToken: [
    ['tiny-secret', 'is shorter than 16 characters'],
    ['a secret with blanks', 'holds a space'],
  ],
  telemetry: [
    ['stderr', 'is unknown, allowed: stdout, off, or file:PATH'],
    ['file:', 'is unknown'],
    ['file:./events/', 'names no file'],
    ['file://host/events', 'names no file'],
  ],
  telemetryFloodThreshold: between(1, 1_000_000),
  telemetryQueueMax: between(1, 1_000_000),
  logLevel: ['verbose', 'INFO', '3'].map((value) => [value, 'is unknown, allowed: fatal, error, warn, info']),
};

describe.each(SETTING_KEYS.map((key) => [variableName(key), key] as const))('%s', (name, key) => {
  const isSecret = SETTING_META.get(SettingsSchema.shape[key])?.secret === true;

  it('is refused where it makes no sense, with its name, its value, what is wrong and what is allowed', () => {
    expect(REFUSED[key].length).toBeGreaterThan(0);
    for (const [value, sentence] of REFUSED[key]) {
      const parsed = parseConfig({ [name]: value });
      const problems = parsed.ok ? [] : parsed.problems;
      const own = problems.filter((problem) => problem.startsWith(`${name}=`));
      expect(own, value).toHaveLength(1);
      expect(problems, value).toEqual(own);
      expect(own[0], value).toMatch(/^[A-Z0-9_]+=.*: .+, allowed: .+$/);
      const shown = isSecret ? '***' : value.includes('@') ? value.replace(/[^/]+@/, '***@') : value.slice(0, 100);
      expect(own[0]?.startsWith(`${name}=${shown}`), own[0]).toBe(true);
      expect(own[0], value).toContain(`: ${sentence}`);
      if (isSecret) expect(own[0]).not.toContain(value);
    }
  });

  it('is unset where it is empty', () => {
    expect(configOf({ [name]: '' })).toEqual(configOf());
  });
});

describe('What is unusual and makes sense', () => {
  it.each([
    ['TIDB_MCP_SERVERLESS_API_URL', 'http://tidb_sandbox:9000/base'],
    ['TIDB_MCP_IAM_API_URL', 'HTTPS://IAM.example.com.'],
    ['TIDB_MCP_IAM_API_URL', 'http://[::1]:9000'],
    ['TIDB_MCP_OAUTH_USERINFO_URL', 'https://bücher.example/userinfo?schema=openid'],
    ['TIDB_MCP_OAUTH_USERINFO_URL', 'http://192.0.2.1:8080/me'],
    ['TIDB_MCP_PUBLIC_URL', 'https://mcp.example.com/'],
    ['TIDB_MCP_ALLOWED_ORIGINS', 'chrome-extension://abcdefgh,moz-extension://a-b,tauri://localhost,app://x'],
    ['TIDB_MCP_ALLOWED_ORIGINS', 'http://localhost:3000,http://[::1]:3000,http://127.0.0.1'],
    ['TIDB_MCP_ALLOWED_HOSTS', 'mcp.example.com,10.0.0.1:8080,::1,xn--bcher-kva.example'],
    ['TIDB_MCP_CLIENT_IP_HEADER', 'X-Real-IP'],
    ['TIDB_MCP_CLIENT_IP_HEADER', 'x-envoy-external-address'],
    ['TIDB_MCP_CLIENT_IP_HEADER', 'WL-Proxy-Client-IP'],
    ['TIDB_MCP_CLIENT_IP_HEADER', 'X-Azure-ClientIP'],
    ['TIDB_MCP_TELEMETRY', 'file:///var/log/events.jsonl'],
  ])('is taken: %s=%s', (name, value) => {
    expect(parseConfig({ [name]: value })).toMatchObject({ ok: true });
  });
});
