import type { IncomingMessage, ServerResponse } from 'node:http';
import { createParamDecorator, type ExecutionContext, Inject, Injectable, type PipeTransform } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONFIG, type Config } from '../config/config.js';
import { AppError } from '../errors/app-error.js';
import { hasTooManyValues, hasUnreadableMember, MOST_VALUES, UNREADABLE_MEMBER } from './json-values.js';

/** A body has this long to arrive, from the moment the request was admitted. */
const BODY_TIMEOUT_MS = 10_000;
/** RFC 9110, 5.6.6: behind a semicolon there may be nothing. */
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*(?:charset="?utf-8"?[ \t]*)?)?(?:;[ \t]*)?$/i;

/** What the pipe is handed: the request, and the answer that may have to say "continue" first. */
type Exchange = [FastifyRequest, FastifyReply];

/**
 * Reads a call's body, and only now that it is admitted: with a cap (413), a content type (415), a time-out (408), as
 * JSON in UTF-8 of not too many values (400). Nothing before it has read a byte: pipes run after the last guard. It is
 * no interceptor, since what the framework builds around one costs more than all guards together. Contract: "Guards read
 * no byte of the body".
 */
@Injectable()
export class BodyPipe implements PipeTransform<Exchange, Promise<unknown>> {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  transform([request, reply]: Exchange): Promise<unknown> {
    return this.read(request.raw, reply.raw);
  }

  private async read(raw: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const { headers } = raw;
    const encoding = headers['content-encoding'];
    if (!JSON_TYPE.test(headers['content-type'] ?? '') || (encoding !== undefined && encoding !== 'identity')) {
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json in UTF-8, not compressed.');
    }
    if (Number(headers['content-length'] ?? 0) > this.config.maxBodyBytes) throw this.tooLarge();
    // RFC 9110, 10.1.1: an older client would take the interim answer for the answer.
    if (headers.expect !== undefined && raw.httpVersion !== '1.0') response.writeContinue();
    return parseJson(await this.collect(raw));
  }

  private collect(raw: IncomingMessage): Promise<Buffer> {
    // Whoever left before is not waited for: nothing more is told of it.
    if (raw.destroyed) return Promise.reject(cutOff());
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        raw.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
        settle();
      };
      const fail = (error: AppError): void => {
        raw.pause();
        finish(() => reject(error));
      };
      const onData = (chunk: Buffer): void => {
        size += chunk.length;
        if (size > this.config.maxBodyBytes) fail(this.tooLarge());
        else chunks.push(chunk);
      };
      const onEnd = (): void => finish(() => resolve(Buffer.concat(chunks, size)));
      const onGone = (): void => fail(cutOff());
      const timer = setTimeout(() => fail(timedOut()), BODY_TIMEOUT_MS);
      raw.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    });
  }

  private tooLarge(): AppError {
    return new AppError('BODY_TOO_LARGE', `The body may have at most ${this.config.maxBodyBytes} bytes.`);
  }
}

function cutOff(): AppError {
  return new AppError('INVALID_ARGUMENT', 'The body ended before it was complete.');
}

function timedOut(): AppError {
  return new AppError('REQUEST_TIMEOUT', `The body did not arrive within ${BODY_TIMEOUT_MS / 1000}s.`);
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(body: Buffer): unknown {
  let value: unknown;
  try {
    value = JSON.parse(UTF_8.decode(body));
  } catch {
    throw new AppError('INVALID_ARGUMENT', 'The body is not JSON in UTF-8.', { rpcCode: -32700 });
  }
  // What parses in milliseconds may take a schema's reader seconds.
  if (hasTooManyValues(body)) {
    throw new AppError('INVALID_ARGUMENT', `The body may hold at most ${MOST_VALUES} values.`);
  }
  if (hasUnreadableMember(value)) {
    throw new AppError('INVALID_ARGUMENT', `No member in the body may be named ${UNREADABLE_MEMBER}.`);
  }
  return value;
}

const WholeExchange = createParamDecorator((_data: unknown, execution: ExecutionContext) =>
  execution.getArgs<Exchange>(),
);

/** A handler's parameter: the call's body, read by {@link BodyPipe}. */
export function ReadBody(): ParameterDecorator {
  return WholeExchange(BodyPipe);
}
