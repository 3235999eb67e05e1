import { z } from 'zod';

const target = z
  .object({
    kind: z.enum(['cluster', 'branch', 'backup']),
    id: z.string(),
    displayName: z.string().optional(),
    clusterId: z.string().optional().describe('The cluster that a branch or backup belongs to.'),
    clusterDisplayName: z.string().optional(),
    plan: z.string().optional(),
    region: z.string().optional(),
    state: z.string().optional(),
    createTime: z.string().optional(),
    ageDays: z.number().int().optional(),
  })
  .describe('What the operation is done to, as TiDB Cloud has it now.');

const gone = z.object({
  count: z.number().int(),
  names: z.array(z.string()).describe('Some of them.'),
});

/** What an operation will do, as data. */
export const effects = z
  .object({
    target: target.optional(),
    creates: z
      .object({
        kind: z.enum(['cluster', 'branch']),
        displayName: z.string().optional(),
        plan: z.string().optional(),
        region: z.string().optional(),
        from: z.string().optional().describe('Where its data comes from.'),
      })
      .optional(),
    changes: z
      .array(z.object({ field: z.string(), from: z.string().optional(), to: z.string() }))
      .optional()
      .describe('Each value as JSON.'),
    deletes: z
      .object({ branches: gone.optional(), backups: gone.optional() })
      .optional()
      .describe('What goes with it.'),
    irreversible: z.array(z.string()).describe('What cannot be undone.'),
    cost: z
      .object({
        spendingLimitMonthlyCents: z.number().int().optional().describe('US cents.'),
        note: z.string(),
      })
      .optional()
      .describe('As far as it is known.'),
  })
  .meta({ title: 'Effects' });

/** What an operation will do. */
export type Effects = z.output<typeof effects>;

/** Full days between an ISO 8601 time and now; undefined where there is no such time. */
export function ageDays(createTime: string | undefined, utcMs: number): number | undefined {
  const createdMs = createTime === undefined ? Number.NaN : Date.parse(createTime);
  return Number.isNaN(createdMs) ? undefined : Math.max(0, Math.floor((utcMs - createdMs) / 86_400_000));
}

/** `1 branch`, `12 branches`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** US cents as dollars. */
export function dollars(cents: number): string {
  return `US$${(cents / 100).toFixed(2)}`;
}

/** What a spending limit means for the bill. */
export function spendingNote(cents: number): string {
  if (cents === 0) return 'Within the free quota only: with a spending limit of 0 nothing is charged.';
  return `At most ${dollars(cents)} a month beyond the free quota.`;
}
