import type { CapabilitiesReport } from './capabilities-report.js';

type Limits = CapabilitiesReport['limits'];

/** JSON of the parts that are the same object in every report, which are most of one. */
const kept = new WeakMap<object, string>();

/**
 * A report as `JSON.stringify` writes it, at a fraction of the price: to look at every member anew would cost more than
 * the four layers do.
 */
export function capabilitiesText(report: CapabilitiesReport): string {
  const { server, caller, liveInstances } = report;
  const { enforced, preauth, tenant, quota, global } = report.limits;
  const isWhole = preauth && tenant && quota && global && caller;
  if (!isWhole) return JSON.stringify(report);
  return (
    `{"server":${keptText(server)},"limits":{"enforced":${enforced},"preauth":${keptText(preauth)},` +
    `"tenant":${keptText(tenant)},"quota":${quotaText(quota)},"global":${keptText(global)}},` +
    `"caller":${callerText(caller)},"liveInstances":${liveInstances}}`
  );
}

function keptText(part: object): string {
  const known = kept.get(part);
  if (known !== undefined) return known;
  const text = JSON.stringify(part);
  kept.set(part, text);
  return text;
}

/** None of its texts is of a caller's making. */
function quotaText(quota: NonNullable<Limits['quota']>): string {
  return (
    `{"callsPerUtcDay":${quota.callsPerUtcDay},"keyedBy":"${quota.keyedBy}","scope":"${quota.scope}",` +
    `"flushIntervalSeconds":${quota.flushIntervalSeconds},"used":${quota.used},"remaining":${quota.remaining},` +
    `"resetsAt":"${quota.resetsAt}","persistenceDegraded":${quota.persistenceDegraded}` +
    (quota.shadowed === undefined ? '}' : `,"shadowed":${quota.shadowed}}`)
  );
}

/** Words of ours, hexadecimal digits, and an address in canonical text: nothing that JSON would escape. */
function callerText(caller: NonNullable<CapabilitiesReport['caller']>): string {
  return (
    `{"surface":"${caller.surface}","kind":"${caller.kind}","fingerprint":"${caller.fingerprint}",` +
    `"proven":${caller.proven},"address":"${caller.address}","addressSource":"${caller.addressSource}"}`
  );
}
