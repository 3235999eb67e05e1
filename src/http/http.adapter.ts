import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AnswerService } from './answer.service.js';
import { FrontDoorService } from './front-door.service.js';

/** A client has this long to send its header, and its whole request where nothing here reads the body. */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than the usual idle time of a load balancer, so that it is never we who close under a request. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** No parameter is too long for the router: what an id may be is said by the operation's schema. */
const MAX_PARAM_LENGTH = 16_384;

/** Fastify with the body unread, and with what has to be connected to the application before it listens. */
export interface HttpAdapter {
  readonly adapter: FastifyAdapter;
  /** Connects the door that every request comes through; to be called before the application is initialised. */
  connect(app: INestApplication): void;
}

/**
 * Sets Fastify up so that nothing escapes the limits: no parser, no automatic HEAD, no trusted proxy, and the requests
 * that the router or Node would answer by themselves are led to the same door. Contract: "Admission, in order".
 */
export function createHttpAdapter(): HttpAdapter {
  let door: FrontDoorService | undefined;
  let answers: AnswerService | undefined;
  const adapter = new FastifyAdapter({
    exposeHeadRoutes: false,
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    skipMiddie: true,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      if (!door?.receive(request, reply)) answers?.fail(error, request, reply);
    },
  });
  const fastify = adapter.getInstance();
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  fastify.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done) => {
    if (!door?.receive(request, reply)) done();
  });
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) if (one !== 'HEAD') answers?.routes.add(one, url);
  });
  return {
    adapter,
    connect(app) {
      const connected = app.get(FrontDoorService);
      door = connected;
      answers = app.get(AnswerService);
      const server = app.getHttpServer() as Server;
      const emit = (raw: IncomingMessage, response: ServerResponse) => server.emit('request', raw, response);
      server.on('checkContinue', emit);
      server.on('checkExpectation', (raw: IncomingMessage, response: ServerResponse) => {
        connected.expectationFailed(raw);
        emit(raw, response);
      });
    },
  };
}
