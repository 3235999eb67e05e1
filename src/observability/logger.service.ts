import { Injectable, type LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import type { Config } from '../config/config.js';
import { Scrubber } from './scrub.js';

/** Where log lines go; it takes whole lines and never blocks. */
export interface LogStream {
  write(line: string): void;
}

/** Where the framework tells of its own building, which helps nobody who operates the server. */
const FRAMEWORK_CONTEXTS: ReadonlySet<string> = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** What a log line carries beside its message. */
interface LogFields {
  context?: string;
  err?: unknown;
  stack?: string;
  details?: unknown;
}

/**
 * The server's log: one JSON object a line, through Nest's own `Logger` everywhere else. Everything passes the
 * {@link Scrubber}; an error is its name, message and stack, and never the request that it happened in.
 */
@Injectable()
export class LogService implements LoggerService {
  readonly #pino: pino.Logger;
  readonly #scrubber: Scrubber;

  constructor(config: Config, stream: LogStream) {
    this.#scrubber = new Scrubber(secretsOf(config));
    const options: pino.LoggerOptions = {
      level: config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      // What is handed over is clean already; pino's own serializer would look for more.
      serializers: { err: (error: unknown) => error },
    };
    this.#pino = pino(options, stream);
  }

  log(message: unknown, ...rest: unknown[]): void {
    const isFrameworks = FRAMEWORK_CONTEXTS.has(String(rest.at(-1)));
    this.#write(isFrameworks ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.#write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.#write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.#write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.#write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.#write('fatal', message, rest);
  }

  #write(level: Level, message: unknown, rest: unknown[]): void {
    if (!this.#pino.isLevelEnabled(level)) return;
    const fields = this.#fields(rest);
    const text = this.#message(message, fields);
    this.#pino[level](fields, text);
  }

  /** Nest appends the context as the last string; an error brings its stack, or itself, before it. */
  #fields(rest: unknown[]): LogFields {
    const given = rest.filter((part) => part !== undefined);
    const last = given.at(-1);
    const fields: LogFields = {};
    if (typeof last === 'string' && !isStack(last)) {
      fields.context = this.#scrubber.text(last);
      given.pop();
    }
    const details: unknown[] = [];
    for (const part of given) {
      if (part instanceof Error) fields.err = this.#scrubber.error(part);
      else if (typeof part === 'string' && isStack(part)) fields.stack = this.#scrubber.text(part);
      else details.push(this.#scrubber.value(part));
    }
    if (details.length > 0) fields.details = details.length === 1 ? details[0] : details;
    return fields;
  }

  #message(message: unknown, fields: LogFields): string {
    if (typeof message === 'string') return this.#scrubber.text(message);
    if (message instanceof Error) {
      fields.err ??= this.#scrubber.error(message);
      return this.#scrubber.text(message.message);
    }
    if (typeof message !== 'object' || message === null) return this.#scrubber.text(String(message));
    fields.details ??= this.#scrubber.value(message);
    return '';
  }
}

function isStack(text: string): boolean {
  return /\n\s+at /.test(text);
}

function secretsOf(config: Config): string[] {
  const database = /^[^:]+:\/\/[^/?#]*?:([^@/?#]*)@/.exec(config.controlDbUrl)?.[1];
  const password = database === undefined ? [] : [database, decoded(database)];
  const own = [config.adminToken, config.tidbCloudPrivateKey].filter((secret) => secret !== undefined);
  return [...config.v1Tokens, ...own, ...password];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
