import { LAYERS } from './charts.js';
import { ago, count, duration, many, percent, rate } from './format.js';

const MINUTE = 60;
/** From this share of the quota on, a bar warns. */
const NEAR = 0.8;

/** An element with text or children. */
export function element(name, content, className) {
  const made = document.createElement(name);
  if (className !== undefined) made.className = className;
  made.append(...[content].flat());
  return made;
}

/** The cells of one table row, of which the first is its head. */
function row(head, ...cells) {
  const first = element('th', head);
  first.scope = 'row';
  return element('tr', [first, ...cells.map((cell) => element('td', cell))]);
}

const fill = (id, rows) => document.querySelector(`#${id} tbody`).replaceChildren(...rows);
const scope = (name) => element('span', name === 'instance' ? 'this instance' : 'shared', `scope ${name}`);

/** What the charts show, added up by minute. */
export function showMinutes({ ageSeconds, windowSeconds, refused, admitted }) {
  const lists = [...LAYERS.map(({ limit }) => refused[limit]), admitted];
  const sums = Array.from({ length: windowSeconds / MINUTE }, () => lists.map(() => 0));
  ageSeconds.forEach((age, i) => {
    const minute = Math.min(Math.floor(age / MINUTE), sums.length - 1);
    lists.forEach((list, column) => (sums[minute][column] += list[i]));
  });
  fill(
    'minutes',
    sums.map((minute, i) => row(`${i}–${i + 1}`, ...minute.map(count))),
  );
}

/** The tenants nearest to their quota, as bars. */
export function showTenants({ tenants, tenantsToday, resetsAt }, at) {
  const left = duration(Math.max(0, (Date.parse(resetsAt) - Date.parse(at)) / 1000));
  const hint = `${many(tenantsToday, 'tenant')} called today. The day ends in ${left}, at 00:00 UTC.`;
  document.getElementById('tenants-hint').textContent = hint;
  fill('tenants', tenants.map(tenantRow));
}

function tenantRow({ tenant, used, limit }) {
  const part = used / limit;
  const left = part >= 1 ? 'used up' : percent(part);
  const bar = element('div', '', part >= 1 ? 'fill over' : part >= NEAR ? 'fill near' : 'fill');
  bar.style.width = `${Math.min(1, part) * 100}%`;
  const track = element('div', bar, 'track');
  track.setAttribute('aria-hidden', 'true');
  return row(tenant, element('div', [track, element('span', `${count(used)} of ${count(limit)} · ${left}`, 'unit')]));
}

/** What became of the requests to TiDB Cloud. */
export function showOutcomes(outcomes) {
  const rows = outcomes.map(({ outcome, requests, lastSeenSeconds }) =>
    row(outcome.replaceAll('_', ' '), count(requests), ago(lastSeenSeconds)),
  );
  fill('outcomes', rows.length === 0 ? [row('none', '0', '–')] : rows);
}

/** The limits that hold for whoever has none of their own; of a layer in shadow mode, what it would have refused. */
export function showLimits(limits, shadowRefused) {
  const { preauth, gateway, tenant, callsPerUtcDay, global, globalUnprovenShare } = limits;
  const bucket = ({ requestsPerSecond, burst }) => `${rate(requestsPerSecond)}/s, burst ${count(burst)}`;
  const unproven = globalUnprovenShare < 1 ? `; ${percent(globalUnprovenShare)} for unproven` : '';
  const shadow = (limit) =>
    limits.shadow.includes(limit) ? `; only watched, would have refused ${count(shadowRefused[limit])}` : '';
  fill('limits', [
    row('Pre-auth', bucket(preauth) + shadow('preauth'), 'address', scope('instance')),
    row('Gateways', bucket(gateway), 'listed address', scope('instance')),
    row('Tenant', bucket(tenant) + shadow('tenant'), 'credential', scope('instance')),
    row('Quota', `${count(callsPerUtcDay)} a UTC day${shadow('quota')}`, 'credential', scope('shared')),
    row('Global', bucket(global) + unproven + shadow('global'), 'instance', scope('instance')),
  ]);
}
