import { Scrubber } from './observability/scrub.js';

interface SystemError extends Error {
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
}

/**
 * The one line that says why the process ends unexpectedly, without anything that looks like a secret; a fault of this
 * server brings its stack along, a state of the machine does not.
 */
export function failureText(error: unknown): string {
  const scrubber = new Scrubber();
  if (!(error instanceof Error)) return scrubber.text(`tidb-cloud-mcp ends: ${String(error)}`);
  const { code, address, port } = error as SystemError;
  const place = `${address ?? 'the address'}${port === undefined ? '' : ` port ${port}`}`;
  if (code === 'EADDRINUSE') {
    return `tidb-cloud-mcp can't listen on ${place} (EADDRINUSE): something else does. Stop it, or set TIDB_MCP_PORT.`;
  }
  if (code === 'EACCES' && port !== undefined) {
    return `tidb-cloud-mcp may not listen on ${place} (EACCES): set TIDB_MCP_PORT to 1024 or above.`;
  }
  if (code === 'EADDRNOTAVAIL') {
    return `tidb-cloud-mcp can't listen on ${place} (EADDRNOTAVAIL): this machine has no such address. Set TIDB_MCP_HOST.`;
  }
  const fault = code === undefined && error.stack !== undefined;
  return scrubber.text(`tidb-cloud-mcp ends: ${fault ? error.stack : `${error.message} (${code})`}`);
}
