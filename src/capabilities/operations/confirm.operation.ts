import { z } from 'zod';
import { DESTRUCTIVE_NAMES } from '../../confirm/destructive-operation.js';
import { changed } from '../changed.js';
import { defineOperation } from '../operation.js';

/** The second step of every operation that changes something. */
export const confirmOperation = defineOperation({
  name: 'confirm',
  title: 'Confirm an operation that changes something',
  description:
    'Performs exactly what a preflight has shown, once. Takes its token alone. outcome: done; refused_upstream: TiDB Cloud refused, nothing was changed; unknown: it may have been carried out, look with result.lookWith and never just try again. CONFIRM_USED tells the earlier outcome to whoever lost the answer.',
  input: z.strictObject({
    confirmationToken: z
      .string()
      .min(1, 'must not be empty')
      .max(256)
      .describe('The confirmationToken of the preflight.'),
  }),
  output: z
    .object({
      outcome: z.enum(['done', 'unknown', 'refused_upstream']).describe('How it ended.'),
      operation: z.enum(DESTRUCTIVE_NAMES),
      result: changed,
    })
    .meta({ title: 'Confirmation' }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  changes: true,
  route: { method: 'POST', path: '/confirm', operationId: 'confirm', tag: 'Changes' },
  example: {
    input: { confirmationToken: 'Qm9uam91ci1jZWNpLWVzdC11bi1leGVtcGxlLTAwMDA' },
    output: {
      outcome: 'done',
      operation: 'delete_branch',
      result: {
        branchId: 'bran-d4k7m2p9q1',
        clusterId: '10581234567890123456',
        displayName: 'migration-test',
        state: 'DELETED',
      },
    },
  },
  failure: ({ outcome }) => (outcome === 'done' ? undefined : outcome),
  run: (context, { confirmationToken }) => context.confirmations.confirm(confirmationToken),
});
