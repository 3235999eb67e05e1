import { z } from 'zod';
import { DESTRUCTIVE_NAMES } from '../../confirm/destructive-operation.js';
import { DESTRUCTIVE_OPERATIONS } from '../destructive-operations.js';
import { effects } from '../../confirm/effects.js';
import { defineOperation } from '../operation.js';
import { argumentsOfAll, signature } from '../preflight-arguments.js';

/** The first step of every operation that changes something. */
export const preflightOperation = defineOperation({
  name: 'preflight',
  title: 'Preflight an operation that changes something',
  description: `Looks at what an operation would do and answers it in words (summary) and as data (effects), with a token to confirm it by; changes nothing. Show the summary to the user before you confirm. Operations:\n\n${DESTRUCTIVE_OPERATIONS.map((one) => `- ${signature(one)}: ${one.description}`).join('\n')}`,
  input: z.strictObject({
    operation: z.enum(DESTRUCTIVE_NAMES).describe('What to do.'),
    arguments: z
      .looseObject({})
      .meta(argumentsOfAll(DESTRUCTIVE_OPERATIONS))
      .describe('The arguments of that operation.'),
  }),
  output: z
    .object({
      confirmationToken: z.string().describe('Confirms exactly this, once, by the same caller.'),
      expiresAt: z.string().describe('The end of its life, ISO 8601.'),
      operation: z.enum(DESTRUCTIVE_NAMES),
      summary: z.string().describe('What will happen, for the user to read.'),
      effects,
    })
    .meta({ title: 'Preflight' }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  changes: true,
  route: { method: 'POST', path: '/preflight', operationId: 'preflight', tag: 'Changes' },
  example: {
    input: {
      operation: 'delete_branch',
      arguments: { clusterId: '10581234567890123456', branchId: 'bran-d4k7m2p9q1' },
    },
    output: {
      confirmationToken: 'Qm9uam91ci1jZWNpLWVzdC11bi1leGVtcGxlLTAwMDA',
      expiresAt: '2026-04-02T09:05:00.000Z',
      operation: 'delete_branch',
      summary:
        'Delete the branch "migration-test" [bran-d4k7m2p9q1] of the cluster "orders" [10581234567890123456] (STARTER, regions/aws-us-west-2, ACTIVE, 1 day old) with all its data. This cannot be undone.',
      effects: {
        target: {
          kind: 'branch',
          id: 'bran-d4k7m2p9q1',
          displayName: 'migration-test',
          clusterId: '10581234567890123456',
          clusterDisplayName: 'orders',
          plan: 'STARTER',
          region: 'regions/aws-us-west-2',
          state: 'ACTIVE',
          createTime: '2026-04-01T12:00:00Z',
          ageDays: 1,
        },
        irreversible: ['All data of the branch.'],
      },
    },
  },
  run: (context, { operation, arguments: args }) => context.confirmations.preflight(operation, args),
});
