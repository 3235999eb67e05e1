// Bare Fastify: refuses in an `onRequest` hook, serves from a handler.
import { fastify } from 'fastify';
import { BODY, CONTENT_TYPE, PORT, REFUSES } from './environment.js';

const app = fastify();
if (REFUSES) {
  app.addHook('onRequest', (_request, reply, _done) => {
    reply
      .code(429)
      .header('content-type', CONTENT_TYPE)
      .header('retry-after', '1')
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff')
      .send(BODY);
  });
}
const report = REFUSES ? {} : (JSON.parse(BODY) as object);
app.get('/v1/capabilities', (_request, reply) => reply.header('cache-control', 'no-store').send(report));
app.post('/mcp', (_request, reply) => reply.send(report));
await app.listen({ port: PORT, host: '127.0.0.1' });
