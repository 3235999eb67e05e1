import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capabilitiesReport, type CapabilitiesReport } from './capabilities-report.js';
import { capabilitiesText } from './capabilities-text.js';
import { capabilitiesOperation } from './operations/capabilities.operation.js';

const count = fc.nat(1_000_000_000);
const shadowed = fc.constantFrom(undefined, true, false);
const digits = fc.stringMatching(/^[0-9a-f]{1,12}$/);
const part = fc.record({ requestsPerSecond: fc.double({ min: 0.001, max: 1e6, noNaN: true }), burst: count, shadowed });
const bucket = <K extends string>(keyedBy: K) =>
  part.map((numbers) => ({ ...numbers, keyedBy, scope: 'instance' as const }));

const report: fc.Arbitrary<CapabilitiesReport> = fc.record({
  server: fc.record({
    name: fc.string(),
    version: fc.string(),
    instanceId: fc.string(),
    transport: fc.constantFrom('http', 'stdio'),
  }),
  limits: fc.record(
    {
      enforced: fc.boolean(),
      preauth: bucket('client-ip'),
      tenant: bucket('credential'),
      quota: fc.record({
        callsPerUtcDay: count,
        keyedBy: fc.constant('credential' as const),
        scope: fc.constant('shared' as const),
        flushIntervalSeconds: count,
        used: count,
        remaining: count,
        resetsAt: fc
          .date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true })
          .map((at) => at.toISOString()),
        persistenceDegraded: fc.boolean(),
        shadowed,
      }),
      global: bucket('instance'),
    },
    { requiredKeys: ['enforced'] },
  ),
  caller: fc.option(
    fc.record({
      surface: fc.constantFrom('mcp', 'v1', 'other'),
      kind: fc.constantFrom('api-key', 'oauth', 'shared'),
      fingerprint: digits,
      proven: fc.boolean(),
      address: fc.oneof(fc.ipV4(), fc.ipV6()),
      addressSource: fc.constantFrom('header', 'forwarded', 'socket', 'fallback'),
    }),
    { nil: undefined },
  ),
  liveInstances: count,
});

describe('A report’s text', () => {
  it('says what JSON.stringify says, whatever is in force', () => {
    fc.assert(
      fc.property(report, (one) => {
        expect(capabilitiesText(one)).toBe(JSON.stringify(one));
      }),
    );
  });

  it('has every member that the schema has', () => {
    const { limits, caller } = capabilitiesReport.shape;
    const quota = Object.keys(limits.shape.quota.unwrap().shape);
    const whole = { ...capabilitiesOperation.example.output };
    whole.limits = { ...whole.limits, quota: whole.limits.quota && { ...whole.limits.quota, shadowed: true } };
    const told = JSON.parse(capabilitiesText(whole)) as CapabilitiesReport;
    expect(Object.keys(told)).toEqual(Object.keys(capabilitiesReport.shape));
    expect(Object.keys(told.limits)).toEqual(Object.keys(limits.shape));
    expect(Object.keys(told.limits.quota ?? {})).toEqual(quota);
    expect(Object.keys(told.caller ?? {})).toEqual(Object.keys(caller.unwrap().shape));
  });

  it('tells the numbers of now where the rest stays the same', () => {
    const { output } = capabilitiesOperation.example;
    const { quota } = output.limits;
    capabilitiesText(output);
    const later = { ...output, limits: { ...output.limits, quota: quota && { ...quota, used: 13, remaining: 4987 } } };
    expect(JSON.parse(capabilitiesText(later))).toEqual(later);
  });
});
