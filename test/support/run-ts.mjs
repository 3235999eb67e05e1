// Runs one TypeScript module in a process of its own: `node run-ts.mjs MODULE ARGUMENT...`.
import { createServer } from 'vite';

const server = await createServer({
  configFile: false,
  logLevel: 'error',
  // The pages under src/ are no entries of this process.
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, ws: false },
});
await server.ssrLoadModule('reflect-metadata');
const { main } = await server.ssrLoadModule(process.argv[2]);
await main(process.argv.slice(3));
await server.close();
