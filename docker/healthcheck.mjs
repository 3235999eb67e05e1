// Asks the server in this container whether it lives; the exit status is the answer. Readiness is not asked: an
// instance that is shutting down must not be taken for a broken one.
const { TIDB_MCP_HOST: host, TIDB_MCP_PORT: port } = process.env;
// A wildcard address listens on loopback too; any other is where the server is.
const address =
  !host || host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;

const alive = await fetch(`http://${address}:${port || '8080'}/health/live`, {
  signal: AbortSignal.timeout(4000),
}).then(
  ({ ok }) => ok,
  () => false,
);
process.exitCode = alive ? 0 : 1;
