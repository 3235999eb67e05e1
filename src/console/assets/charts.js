/* global Chart */
import { ago, rate } from './format.js';

/** The layers in the order in which they are asked; the dashes tell their lines apart without their colours. */
export const LAYERS = [
  { limit: 'preauth', label: 'Pre-auth', dash: [] },
  { limit: 'tenant', label: 'Tenant', dash: [7, 4] },
  { limit: 'quota', label: 'Quota', dash: [2, 3] },
  { limit: 'global', label: 'Global', dash: [9, 3, 2, 3] },
];

const MINUTE = 60;
/** On a chart narrower than this many pixels, marks of every third minute would touch. */
const NARROW = 480;

/** The two charts over time, in the page's colours. */
export class Charts {
  #refusals = chart('refusals-chart', LAYERS);
  #admitted = chart('admitted-chart', [{ limit: 'admitted', label: 'Admitted', dash: [] }]);

  constructor() {
    this.#paint();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#paint());
  }

  /** Shows the history of a report. */
  show({ history, at }) {
    const { ageSeconds, seconds } = history;
    const points = (counts) => counts.map((value, i) => ({ x: -ageSeconds[i], y: value / seconds[i] }));
    LAYERS.forEach(({ limit }, i) => (this.#refusals.data.datasets[i].data = points(history.refused[limit])));
    this.#admitted.data.datasets[0].data = points(history.admitted);
    for (const one of [this.#refusals, this.#admitted]) {
      one.options.scales.x.min = -history.windowSeconds;
      one.options.scales.x.ticks.stepSize = (one.canvas.parentNode.clientWidth < NARROW ? 5 : 3) * MINUTE;
      one.options.plugins.tooltip.callbacks.title = ([point]) => moment(at, point.parsed.x);
      one.update('none');
    }
  }

  /** Shows or hides the line of a layer. */
  toggle(index, shown) {
    this.#refusals.setDatasetVisibility(index, shown);
    this.#refusals.update('none');
  }

  /** What a chart shows, in a sentence for who does not see it. */
  describe(refusals, admitted) {
    this.#refusals.canvas.setAttribute('aria-label', refusals);
    this.#admitted.canvas.setAttribute('aria-label', admitted);
  }

  #paint() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    for (const one of [this.#refusals, this.#admitted]) {
      for (const dataset of one.data.datasets) {
        dataset.borderColor = colour(dataset.limit);
        dataset.backgroundColor = colour(dataset.limit);
      }
      for (const scale of Object.values(one.options.scales)) {
        scale.ticks.color = colour('quiet');
        scale.grid.color = colour('line');
      }
      one.update('none');
    }
  }
}

function chart(id, lines) {
  const datasets = lines.map(({ limit, label, dash }) => ({ limit, label, borderDash: dash, data: [] }));
  return new Chart(document.getElementById(id), {
    type: 'line',
    data: { datasets },
    options: {
      animation: false,
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      interaction: { mode: 'index', intersect: false },
      elements: { point: { radius: 0, hitRadius: 8 }, line: { borderWidth: 2 } },
      plugins: { legend: { display: false }, tooltip: { callbacks: { label: labelOf } } },
      scales: { x: timeScale(), y: rateScale() },
    },
  });
}

function timeScale() {
  return {
    type: 'linear',
    min: -15 * MINUTE,
    max: 0,
    grid: { drawTicks: false },
    ticks: { stepSize: 3 * MINUTE, maxRotation: 0, callback: (x) => (x === 0 ? 'now' : `−${-x / MINUTE} min`) },
  };
}

function rateScale() {
  return {
    beginAtZero: true,
    suggestedMax: 1,
    grid: {},
    afterFit: sameWidth,
    ticks: { maxTicksLimit: 6, callback: (y) => rate(y) },
  };
}

/** So that the same moment stands at the same place in both charts. */
function sameWidth(scale) {
  scale.width = 48;
}

function labelOf({ dataset, parsed }) {
  return `${dataset.label}: ${rate(parsed.y)} a second`;
}

function moment(at, x) {
  const time = new Date(Date.parse(at) + x * 1000).toLocaleTimeString('en-GB');
  return `${time} (${ago(-x)})`;
}
