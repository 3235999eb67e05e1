import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { requestContext } from '../request/request-context.js';
import { writeWhole } from '../request/whole-answer.adapter.js';
import type { Operation } from './operation.js';

/**
 * Answers a call with its output, written by the route's schema or by the operation itself, past the framework and in
 * one piece with its head: what stands between a handler's result and the socket otherwise costs more than the four
 * layers.
 */
export function writeOutput<O extends z.ZodObject>(
  reply: FastifyReply,
  operation: Operation<z.ZodObject, O>,
  output: z.output<O>,
): void {
  const body = operation.json?.(output) ?? (reply.code(200).serialize(output) as string);
  const { answerHeaders } = requestContext(reply.request.raw);
  answerHeaders.push('content-type', 'application/json; charset=utf-8');
  answerHeaders.push('content-length', String(Buffer.byteLength(body)), 'cache-control', 'no-store');
  reply.hijack();
  writeWhole(reply.raw, 200, answerHeaders, body);
}
