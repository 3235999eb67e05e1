import { z } from 'zod';
import { invalidArgument } from './api-error.js';

const displayName = z.string().regex(/^[A-Za-z0-9][-A-Za-z0-9]{2,62}[A-Za-z0-9]$/);
const rootPassword = z.string().min(8).max(64);
const spendingLimit = z.object({ monthly: z.int32().min(0) });
const automatedBackupPolicy = z.object({
  startTime: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/),
  retentionDays: z.int32().min(1).max(90).optional(),
});
const autoScaling = z
  .object({ minRcu: z.int().min(1), maxRcu: z.int().min(1) })
  .refine(({ minRcu, maxRcu }) => minRcu <= maxRcu, 'minRcu must not be above maxRcu');
const labels = z.record(z.string(), z.string());
const auditLogConfig = z.object({ enabled: z.boolean().optional(), unredacted: z.boolean().optional() });
const publicEndpoint = z.object({
  disabled: z.boolean().optional(),
  authorizedNetworks: z
    .array(z.object({ startIpAddress: z.ipv4(), endIpAddress: z.ipv4(), displayName: z.string() }))
    .max(100)
    .optional(),
});
const endpoints = z.object({ public: publicEndpoint.optional() });

/** Body of `POST /clusters`. Read-only and unknown fields are ignored, as the upstream's JSON mapping does. */
const createSchema = z.object({
  displayName,
  region: z.object({ name: z.string() }),
  rootPassword: rootPassword.optional(),
  spendingLimit: spendingLimit.optional(),
  automatedBackupPolicy: automatedBackupPolicy.optional(),
  endpoints: endpoints.optional(),
  encryptionConfig: z.object({ enhancedEncryptionEnabled: z.boolean().optional() }).optional(),
  highAvailabilityType: z.enum(['ZONAL', 'REGIONAL']).optional(),
  labels: labels.optional(),
  auditLogConfig: auditLogConfig.optional(),
  autoScaling: autoScaling.optional(),
});

/** Body of `PATCH /clusters/{clusterId}`. */
const patchSchema = z.object({
  updateMask: z.string().min(1),
  cluster: z
    .object({ displayName, spendingLimit, automatedBackupPolicy, endpoints, labels, auditLogConfig, autoScaling })
    .partial(),
});

/** Body of `POST /clusters/{clusterId}/branches`. */
const branchSchema = z.object({
  displayName: z.string().min(1).max(64),
  parentId: z.string().optional(),
  parentTimestamp: z.iso.datetime({ offset: true }).nullish(),
  rootPassword: rootPassword.optional(),
});

/** Body of `POST /clusters:restore`: one source, not both. */
const restoreSchema = z.union([
  z.strictObject({ snapshot: z.object({ backupId: z.string() }) }),
  z.strictObject({ pointInTime: z.object({ clusterId: z.string(), backupTime: z.iso.datetime({ offset: true }) }) }),
]);

export type CreateClusterInput = z.infer<typeof createSchema>;
export type PatchClusterInput = z.infer<typeof patchSchema>;
export type CreateBranchInput = z.infer<typeof branchSchema>;
export type RestoreInput = z.infer<typeof restoreSchema>;

/** Each reads one kind of body; throws an ApiError (400) that names the first mistake. */
export const readCreateCluster = (body: unknown): CreateClusterInput => read(createSchema, body);
export const readPatchCluster = (body: unknown): PatchClusterInput => read(patchSchema, body);
export const readCreateBranch = (body: unknown): CreateBranchInput => read(branchSchema, body);
export const readRestore = (body: unknown): RestoreInput => read(restoreSchema, body);

function read<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw invalidArgument(`${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'invalid'}`);
}
