import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { QuotaStatus } from '../quota/quota.service.js';

/** From this share of the day's quota on, tool results say what is left of it. */
const NOTICE_FROM = 0.8;
/** The notice's key in `_meta`; MCP wants a prefix of one's own. */
export const QUOTA_NOTICE = 'tidb-cloud-mcp/quota';

/** Adds to a tool's result, once the day's quota is nearly used up, how many calls are left and until when. */
export function withQuotaNotice<R extends CallToolResult | InputRequiredResult>(
  result: R,
  { callsPerUtcDay, used, remaining, resetsAt, shadowed }: QuotaStatus,
): R {
  if (shadowed || used < callsPerUtcDay * NOTICE_FROM) return result;
  return { ...result, _meta: { ...result._meta, [QUOTA_NOTICE]: { remaining, resetsAt } } };
}
