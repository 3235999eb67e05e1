import { z } from 'zod';

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
const IPV4 = /^((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)$/;
const MOST_LABELS = 64;
const MOST_NETWORKS = 100;

/** The name of a cluster, by TiDB Cloud's rule. */
export const clusterName = z
  .string()
  .regex(
    /^[A-Za-z0-9][-A-Za-z0-9]{2,62}[A-Za-z0-9]$/,
    'must be 4 to 64 letters, digits or hyphens, with no hyphen at either end',
  )
  .describe('4 to 64 letters, digits or hyphens, with no hyphen at either end.');

/** The name of a branch. */
export const branchName = z
  .string()
  .regex(/^[^\p{C}]{1,64}$/u, 'must be 1 to 64 printable characters')
  .describe('1 to 64 characters.');

/** A root password; it is encrypted at rest and never answered. */
export const rootPassword = z
  .string()
  .regex(/^.{8,64}$/, 'must be 8 to 64 characters')
  .describe('The password of the root user, 8 to 64 characters. It is never answered.');

/** A spending limit. */
export const spendingLimit = z
  .strictObject({
    monthly: z
      .int('must be whole US cents')
      .min(0, 'must be at least 0')
      .max(2_147_483_647, 'must be at most 2147483647')
      .describe('US cents a month; 0: the free quota only.'),
  })
  .describe('The most that a Starter cluster may cost in a month.');

/** Labels of a cluster. */
export const labels = z
  .record(z.string().min(1).max(63), z.string().max(63))
  .refine((all) => Object.keys(all).length <= MOST_LABELS, `must be at most ${MOST_LABELS} labels`)
  .describe('All labels, each value at most 63 characters. `tidb.cloud/project` names the project.');

const network = z
  .strictObject({
    startIpAddress: z.string().regex(IPV4, 'must be an IPv4 address'),
    endIpAddress: z.string().regex(IPV4, 'must be an IPv4 address'),
    displayName: z.string().min(1).max(64),
  })
  .refine(
    ({ startIpAddress, endIpAddress }) => addressNumber(startIpAddress) <= addressNumber(endIpAddress),
    'must not start behind its end',
  );

/** Who may reach the public endpoint. */
export const endpoints = z
  .strictObject({
    public: z.strictObject({
      authorizedNetworks: z
        .array(network)
        .max(MOST_NETWORKS, `must be at most ${MOST_NETWORKS} networks`)
        .describe('All networks that may connect, as ranges of IPv4 addresses.'),
    }),
  })
  .describe('The public endpoint.');

/** A moment as RFC 3339 has it. */
export function momentField(what: string) {
  return z
    .string()
    .regex(TIME, 'must be a time such as 2026-04-01T12:00:00Z')
    .refine((text) => !Number.isNaN(Date.parse(text)), 'must be a time that exists')
    .describe(`${what} RFC 3339.`);
}

function addressNumber(text: string): number {
  return text.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}
