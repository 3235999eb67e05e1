// Bare `node:http`: the least that an answer can cost.
import { createServer } from 'node:http';
import { BODY, CONTENT_TYPE, PORT, REFUSES } from './environment.js';

const headers = {
  'content-type': CONTENT_TYPE,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-length': Buffer.byteLength(BODY),
  ...(REFUSES ? { 'retry-after': '1' } : {}),
};

// Longer than any pause between two rounds.
createServer({ keepAliveTimeout: 75_000 }, (_request, response) => {
  response.writeHead(REFUSES ? 429 : 200, headers);
  response.end(BODY);
}).listen(PORT, '127.0.0.1');
