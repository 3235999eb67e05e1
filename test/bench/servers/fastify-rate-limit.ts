// Fastify with `@fastify/rate-limit` and its local store.
import rateLimit from '@fastify/rate-limit';
import { fastify } from 'fastify';
import { BODY, LIMIT, PORT, REFUSES, WINDOW_MS } from './environment.js';

const app = fastify();
await app.register(rateLimit, { max: LIMIT, timeWindow: WINDOW_MS });
const report = REFUSES ? {} : (JSON.parse(BODY) as object);
app.get('/v1/capabilities', (_request, reply) => reply.header('cache-control', 'no-store').send(report));
await app.listen({ port: PORT, host: '127.0.0.1' });
