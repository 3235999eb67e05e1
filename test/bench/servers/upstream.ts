// What stands for TiDB Cloud: takes every bearer token that begins with `tenant`, rejects everything else.
import { createServer } from 'node:http';
import { PORT } from './environment.js';

const rejection = JSON.stringify({ code: 49900001, message: 'unauthorized', details: [] });

createServer((request, response) => {
  const accepted = request.headers.authorization?.startsWith('Bearer tenant') === true;
  response.setHeader('content-type', 'application/json');
  if (accepted) {
    response.end('{"clusters":[],"totalSize":0}');
    return;
  }
  response.statusCode = 401;
  response.setHeader('www-authenticate', 'Digest realm="tidb.cloud", nonce="0123456789abcdef", qop="auth"');
  response.end(rejection);
}).listen(PORT, '127.0.0.1');
