import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  fastify as createFastify,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactoryHandler,
  type onRequestHookHandler,
} from 'fastify';
import type { RouteMark } from '../request/route.decorator.js';
import { AnswerService } from './answer.service.js';
import { bareAdapter } from './bare.adapter.js';
import { boundConnections } from './connection-bounds.adapter.js';
import { FrontDoorService } from './front-door.service.js';
import { type HttpRoute, httpRoute, NO_ROUTE } from './http-route.js';
import { answerUnreadable, closeAfterAnswers } from './unreadable.adapter.js';

/** A client has this long to send its header, and its whole request where nothing here reads the body. */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** How often Node looks for those that are over; its own half a minute would double the first of them. */
const CHECK_TIMES_EVERY_MS = 1000;
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
  const fastify = createFastify({
    exposeHeadRoutes: false,
    return503OnClosing: false,
    clientErrorHandler: answerUnreadable,
    serverFactory: (route: FastifyServerFactoryHandler) => createHttpServer(route, () => door),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      if (!door?.receive(request, reply, NO_ROUTE)) answers?.fail(error, request, reply);
    },
  });
  const adapter = bareAdapter(fastify);
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  const receive = (route: HttpRoute): onRequestHookHandler => {
    return (request, reply, done) => {
      if (!door?.receive(request, reply, route)) done();
    };
  };
  const receiveUnmatched = receive(NO_ROUTE);
  fastify.addHook('onRequest', function (request, reply, done) {
    if (request.is404) receiveUnmatched.call(this, request, reply, done);
    else done();
  });
  fastify.addHook('onRoute', (options) => {
    const { method, url, config, onRequest = [] } = options;
    for (const one of [method].flat()) if (one !== 'HEAD') answers?.routes.add(one, url);
    const mark: unknown = config;
    options.onRequest = [receive(httpRoute(url, mark as RouteMark | undefined)), ...[onRequest].flat()];
  });
  return {
    adapter,
    connect(app) {
      door = app.get(FrontDoorService);
      answers = app.get(AnswerService);
    },
  };
}

/** Node's server with our times, whose requests meet the door before Fastify's router. */
function createHttpServer(route: RequestListener, door: () => FrontDoorService | undefined): Server {
  const listener = (raw: IncomingMessage, response: ServerResponse): void => {
    if (door()?.refuseUnrouted(raw, response) !== true) route(raw, response);
  };
  const times = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_TIMES_EVERY_MS,
  };
  return boundConnections(createServer(times, listener))
    .on('checkContinue', listener)
    .on('connect', (_request, socket) => closeAfterAnswers(socket))
    .on('checkExpectation', (raw: IncomingMessage, response: ServerResponse) => {
      door()?.expectationFailed(raw);
      listener(raw, response);
    });
}
