/** Limits that nothing here meets, for what is to be admitted. */
export const UNLIMITED = {
  TIDB_MCP_TENANT_RPS: '1000000',
  TIDB_MCP_TENANT_BURST: '1000000',
  TIDB_MCP_DAILY_QUOTA: '1000000000',
  TIDB_MCP_GLOBAL_RPS: '1000000',
  TIDB_MCP_GLOBAL_BURST: '1000000',
} as const;
