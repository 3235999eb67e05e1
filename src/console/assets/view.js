import { Charts, LAYERS } from './charts.js';
import { ago, count, duration, many, percent, rate } from './format.js';
import { element, showLimits, showMinutes, showOutcomes, showTenants } from './tables.js';

const HEALTH = {
  answering: ['Answering', 'good', 'every request of the last minute was answered'],
  partly: ['Partly failing', 'warn', 'some requests of the last minute were not answered'],
  failing: ['Failing', 'bad', 'no request of the last minute was answered'],
  quiet: ['Quiet', undefined, 'nothing was asked in the last minute'],
};

const byId = (id) => document.getElementById(id);

/** Puts reports into the page. */
export class View {
  #charts = new Charts();
  #instance;
  #legend;

  constructor() {
    this.#legend = LAYERS.map((layer, index) => this.#legendButton(layer, index));
    byId('legend').append(...this.#legend.map((button) => element('li', button)));
  }

  /** Shows a report whole. */
  show(report) {
    const { history, totals, quota, upstream } = report;
    this.#showInstance(report);
    this.#showNow(history, totals);
    tile('tile-proven', count(report.provenCredentials), `of at most ${count(report.provenMax)}, this instance`);
    showClients(report.clients);
    showUpstream(upstream);
    showFlush(quota);
    showMinutes(history);
    showTenants(quota, report.at);
    showOutcomes(upstream.outcomes);
    showLimits(report.limits, totals.shadowRefused);
    this.#charts.show(report);
  }

  #showInstance({ instance, quota }) {
    const isOther = this.#instance !== undefined && this.#instance !== instance.id;
    const { id, upSeconds, shuttingDown } = instance;
    byId('instance').textContent = id.slice(0, 8);
    byId('instance').title = id;
    byId('up').textContent = duration(upSeconds);
    byId('live').textContent = many(quota.liveInstances, 'live instance');
    const notice = byId('notice');
    if (shuttingDown) notice.textContent = SHUTTING_DOWN;
    else if (isOther) notice.textContent = OTHER_INSTANCE;
    else if (notice.textContent !== OTHER_INSTANCE) notice.textContent = '';
    notice.hidden = notice.textContent === '';
    this.#instance = id;
  }

  /** Nobody answers any more: a shutdown that was announced is over. */
  showUnreachable() {
    const notice = byId('notice');
    if (notice.textContent === SHUTTING_DOWN) notice.textContent = '';
    notice.hidden = notice.textContent === '';
  }

  #showNow({ seconds, refused, admitted }, totals) {
    const last = seconds.length - 1;
    const now = (counts) => (last < 0 ? 0 : counts[last] / seconds[last]);
    const rates = LAYERS.map(({ limit }) => now(refused[limit]));
    const all = rates.reduce((sum, one) => sum + one, 0);
    const total = LAYERS.reduce((sum, { limit }) => sum + totals.refused[limit], 0);
    tile('tile-admitted', `${rate(now(admitted))}/s`, `${many(totals.admitted, 'call')} since it started`);
    tile('tile-refused', `${rate(all)}/s`, `${many(total, 'request')} since it started`, all > 0 ? 'warn' : undefined);
    LAYERS.forEach(({ limit, label }, i) => {
      this.#legend[i].textContent = `${label} ${rate(rates[i])}/s, ${count(totals.refused[limit])} in all`;
    });
    const spoken = LAYERS.map(({ label }, i) => `${label} ${rate(rates[i])}`).join(', ');
    const where = 'The last 15 minutes; as a table below.';
    this.#charts.describe(
      `Refusals per second, now: ${spoken}. ${where}`,
      `Admitted calls per second, now: ${rate(now(admitted))}. ${where}`,
    );
  }

  #legendButton({ limit, label }, index) {
    const button = element('button', label, limit);
    button.type = 'button';
    button.setAttribute('aria-pressed', 'true');
    button.addEventListener('click', () => {
      const shown = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', String(shown));
      this.#charts.toggle(index, shown);
    });
    return button;
  }
}

const SHUTTING_DOWN = 'This instance is shutting down.';

const OTHER_INSTANCE =
  'Answers come from more than one instance, so numbers of “this instance” jump. Open one instance directly, or have the load balancer keep /console with one.';

function tile(id, value, unit, className) {
  byId(id).className = className ?? '';
  byId(id).replaceChildren(value, element('span', unit, 'unit'));
}

function facts(id, entries) {
  const made = entries.flatMap(([name, value, className]) => [element('dt', name), element('dd', value, className)]);
  byId(id).replaceChildren(...made);
}

/** Whose addresses pre-auth counts: most of them fallen back means that the declared source is wrong. */
function showClients({ declaredSource, declared, fallback }) {
  const from = `${count(declared)} from ${declaredSource ?? 'the connection, as none is declared'}`;
  const fell = declaredSource === null ? '' : `; ${count(fallback)} fell back to the connection`;
  const className = fallback > declared ? 'bad' : undefined;
  const mark = className === undefined ? '' : ': most lack what is declared';
  facts('clients', [['Client addresses, last 15 min', from + fell + mark, className]]);
}

function showUpstream({ health, requests, p50Seconds, p95Seconds }) {
  const [word, className, meaning] = HEALTH[health];
  const time = (seconds) => (seconds === null ? '–' : duration(seconds));
  tile('tile-upstream', word, meaning, className);
  facts('upstream', [
    ['Health', word, className],
    ['Requests, last 15 minutes', count(requests)],
    ['Half of them within', time(p50Seconds)],
    ['95 % of them within', time(p95Seconds)],
  ]);
}

function showFlush({ degraded, connected, secondsSinceFlush, flushIntervalSeconds, flushes }) {
  const since = secondsSinceFlush === null ? 'none yet' : ago(secondsSinceFlush);
  const late = degraded || secondsSinceFlush === null || secondsSinceFlush > 2 * flushIntervalSeconds;
  const className = degraded ? 'bad' : late ? 'warn' : undefined;
  const state = degraded ? 'degraded: counting in memory' : 'shared';
  tile('tile-flush', since, degraded ? 'quota degraded' : `every ${duration(flushIntervalSeconds)}`, className);
  const { ok = 0, failed = 0, unknown = 0 } = flushes;
  const all = ok + failed + unknown;
  facts('flush', [
    ['The quota is', state, degraded ? 'bad' : 'good'],
    ['Control database', connected ? 'connected' : 'not connected', connected ? 'good' : 'bad'],
    ['Last successful flush', since, className],
    ['Interval', duration(flushIntervalSeconds)],
    ['Flushes that succeeded', all === 0 ? '–' : `${count(ok)} of ${count(all)} (${percent(ok / all)})`],
    ['Flushes of unknown outcome', count(unknown)],
  ]);
}
