import { describe, expect, it } from 'vitest';
import { checkReport } from './check-report.js';
import { otlpLogsUrl } from './otlp-endpoint.js';
import { parseConfig } from './parse-config.js';

describe('Where OpenTelemetry logs go', () => {
  it.each([
    [{}, undefined],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, undefined],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, 'http://collector:4318/v1/logs'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/base/' }, 'http://collector:4318/base/v1/logs'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://b/here' }, 'http://b/here'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_SDK_DISABLED: 'true' }, undefined],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_LOGS_EXPORTER: 'none' }, undefined],
  ])('of %j is %s', (env, url) => {
    expect(otlpLogsUrl(env)).toBe(url);
  });

  it.each([
    'collector:4318',
    'localhost',
    'ftp://collector',
    'user:pass@collector',
    'http:collector',
    'http://c?key=1',
    'http://c#x',
  ])('is a mistake where it is no address, not the default of a library: %s', (text) => {
    const parsed = parseConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: text });
    expect(parsed).toMatchObject({ ok: false, problems: [expect.stringMatching(/^OTEL_EXPORTER_OTLP_ENDPOINT=/)] });
    expect(JSON.stringify(parsed)).not.toContain('pass@');
  });

  it('may have a query where it is the whole address', () => {
    const logs = { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'https://user:pass@collector/logs?tenant=1' };
    expect(parseConfig(logs)).toMatchObject({
      ok: true,
      config: { otlpLogsUrl: logs.OTEL_EXPORTER_OTLP_LOGS_ENDPOINT },
    });
  });

  it('is told by check, without what may be a credential in it', () => {
    const report = (url: string) => checkReport(parseConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: url }));
    expect(report('http://collector:4318')).toContain('events also go to http://collector:4318/v1/logs');
    expect(report('http://user:pass@collector')).not.toContain('pass');
    expect(checkReport(parseConfig({}))).not.toContain('OpenTelemetry');
  });
});
