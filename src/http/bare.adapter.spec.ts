import { Module, RequestMethod } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { fastify, type FastifyInstance } from 'fastify';
import { describe, expect, it } from 'vitest';
import { bareAdapter } from './bare.adapter.js';

@Module({})
class NothingModule {}

const create = () =>
  NestFactory.create<NestFastifyApplication>(NothingModule, bareAdapter(fastify()), {
    logger: false,
    abortOnError: false,
  });

describe('Nest’s adapter without its hooks', () => {
  it('leaves Fastify able to take hooks', async () => {
    const app = await create();
    const seen: string[] = [];
    const instance = app.getHttpAdapter().getInstance();
    instance.addHook('onRequest', (request, _reply, done) => {
      seen.push(request.url);
      done();
    });
    await app.init();
    await instance.ready();
    await app.inject('/nowhere');
    await app.close();
    expect(seen).toEqual(['/nowhere']);
  });

  it.each([
    ['middleware', (app: NestFastifyApplication) => app.use(() => undefined)],
    ['CORS', (app: NestFastifyApplication) => app.enableCors()],
  ])('says at the start that %s would be without effect', async (_what, set) => {
    const app = await create();
    expect(() => set(app)).toThrow('Decision 0026');
    await app.close();
  });

  it('says so of every hook that would be asked for later', () => {
    const adapter = bareAdapter(fastify());
    expect(() => adapter.setOnRequestHook(() => undefined)).toThrow('Decision 0026');
    expect(() => adapter.setOnResponseHook(() => undefined)).toThrow('Decision 0026');
    expect(() => adapter.registerSecurityHook(() => undefined)).toThrow('Decision 0026');
    expect(() => adapter.createMiddlewareFactory(RequestMethod.ALL)).toThrow('Decision 0026');
  });

  it('does not start over hooks that nobody has read', () => {
    expect(() => bareAdapter(withOneMoreHook(fastify()))).toThrow('other hooks');
  });
});

/** The adapter's constructor reads `server`; one that adds a hook there stands for one that adds a hook itself. */
function withOneMoreHook(instance: FastifyInstance): FastifyInstance {
  const { server } = instance;
  let added = false;
  Object.defineProperty(instance, 'server', {
    get: () => {
      if (!added) instance.addHook('onSend', (_request, _reply, _payload, done) => done());
      added = true;
      return server;
    },
  });
  return instance;
}
