import { Logger } from '@nestjs/common';
import { afterEach, describe, expect, it } from 'vitest';
import type { Environment } from '../config/otlp-endpoint.js';
import { configOf } from '../config/parse-config.js';
import { LogService } from './logger.service.js';

function start(env: Environment = {}) {
  const lines: string[] = [];
  const log = new LogService(configOf(env), { write: (line) => lines.push(line) });
  return { log, lines, entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

afterEach(() => Logger.overrideLogger(['log', 'error', 'warn', 'debug', 'verbose', 'fatal']));

describe('a log line', () => {
  it('is one JSON object with level, time, context and message', () => {
    const { log, lines, entries } = start();
    Logger.overrideLogger(log);
    new Logger('Quota').log('Adopted totals.');
    expect(lines).toHaveLength(1);
    expect(entries()[0]).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      context: 'Quota',
      msg: 'Adopted totals.',
    });
  });

  it('is written from the configured level on', () => {
    const { log, entries } = start({ TIDB_MCP_LOG_LEVEL: 'warn' });
    log.log('a');
    log.debug('b');
    log.verbose('c');
    log.warn('d');
    log.error('e');
    log.fatal('f');
    expect(entries().map((entry) => entry['level'])).toEqual(['warn', 'error', 'fatal']);
  });

  it('has an error with its message and stack, however it was handed over', () => {
    const { log, entries } = start();
    const error = new TypeError('x is undefined');
    log.error(error, 'Http');
    log.error('Failed.', error, 'Http');
    log.error('Failed.', error.stack, 'Http');
    expect(entries()[0]).toMatchObject({ msg: 'x is undefined', context: 'Http', err: { type: 'TypeError' } });
    expect(entries()[1]).toMatchObject({ msg: 'Failed.', context: 'Http', err: { message: 'x is undefined' } });
    expect(entries()[2]).toMatchObject({
      msg: 'Failed.',
      context: 'Http',
      stack: expect.stringContaining(' at ') as string,
    });
  });

  it('holds none of the secrets that the server was configured with', () => {
    const { log, lines } = start({
      TIDB_MCP_CONTROL_DB_URL: 'mysql://root:p%40ssw0rd@db/control',
      TIDB_CLOUD_PUBLIC_KEY: 'publichalf',
      TIDB_CLOUD_PRIVATE_KEY: 'the-private-half',
      TIDB_MCP_V1_TOKENS: 'a-shared-token-of-v1',
      TIDB_MCP_ADMIN_TOKEN: 'the-admins-own-token',
    });
    log.warn(
      'p@ssw0rd p%40ssw0rd the-private-half',
      { note: 'a-shared-token-of-v1' },
      new Error('the-admins-own-token'),
      'X',
    );
    expect(lines.join('')).not.toMatch(/ssw0rd|private-half|shared-token|admins-own/);
  });

  it('has objects as details, without headers and bodies', () => {
    const { log, entries } = start();
    log.log({ tenants: 3, headers: { authorization: 'x' } }, 'Quota');
    expect(entries()[0]).toMatchObject({ context: 'Quota', details: { tenants: 3, headers: '***' } });
  });
});
