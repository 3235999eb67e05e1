/** The secrets of one run: those of callers, of the server and of its operator, and what only looks like one. */

export const SERVER_KEY = {
  publicKey: 'SERVERSOWNPUBLIC',
  privateKey: 'servers-own-private-half',
  token: 'servers-own-token',
};
export const REVOKED = { publicKey: 'REVOKEDPUBLIC', privateKey: 'revoked-private-half', token: 'revoked-oauth-token' };
/** The subject is whom the userinfo endpoint names, and what its e-mail address there begins with. */
export const TENANT = {
  publicKey: 'TENANTPUBLIC',
  privateKey: 'tenant-private-half',
  token: 'tenant.oauth-access-token',
  subject: 'subject-of-the-tenant',
};
export const UNKNOWN = { publicKey: 'UNKNOWNPUBLIC', privateKey: 'unknown-private-half' };
export const SHARED_TOKEN = 'shared-token-of-the-workspace';
export const ADMIN_TOKEN = 'admin-token-of-the-operator';
export const DATABASE_PASSWORD = 'database-pass/word';
export const BODY_SECRET = 'secret-in-a-request-body';
export const COLLECTOR_SECRET = 'collector-api-key';
/** What an upstream says that is not for anybody's eyes but the caller's, and there only in our words. */
export const UPSTREAM_BODY = 'marker-of-an-upstream-body';

export const pair = ({ publicKey, privateKey }: { publicKey: string; privateKey: string }) =>
  `${publicKey}:${privateKey}`;
export const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

/** Every spelling under which a secret could be found. */
function spellings(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64');
  const parts = [
    secret,
    encodeURIComponent(secret),
    base64,
    base64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
  ];
  return [...new Set([...parts, Buffer.from(secret).toString('hex'), JSON.stringify(secret).slice(1, -1)])];
}

/** The secrets of the list that are found in a text, under any spelling. */
export function found(text: string, secrets: readonly string[]): string[] {
  return secrets.filter((secret) => spellings(secret).some((spelling) => text.includes(spelling)));
}

const KEYS = [SERVER_KEY, REVOKED, TENANT, UNKNOWN];
export const SECRETS: readonly string[] = [
  ...KEYS.flatMap((key) => [key.privateKey, pair(key)]),
  ...[SERVER_KEY, REVOKED, TENANT].map(({ token }) => token),
  ...[REVOKED, TENANT, UNKNOWN].map(({ publicKey }) => publicKey),
  TENANT.subject,
  SHARED_TOKEN,
  ADMIN_TOKEN,
  COLLECTOR_SECRET,
  BODY_SECRET,
];
