import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { EFFORT, type Effort } from './load-client.js';
import { PINS, stopServers } from './processes.js';
import { forgetUpstream } from './product.js';
import { isMet, type Section, tableOf } from './report.js';
import { admitted } from './sections/admitted.js';
import { bodies } from './sections/bodies.js';
import { checks } from './sections/checks.js';
import { flood } from './sections/flood.js';
import { flush } from './sections/flush.js';
import { mcp } from './sections/mcp.js';
import { refusal } from './sections/refusal.js';
import { start } from './sections/start.js';

/** How thorough a run is. */
export interface Run {
  readonly quick: boolean;
  readonly effort: Effort;
}

const SECTIONS: Record<string, (run: Run) => Promise<Section>> = {
  refusal: ({ effort }) => refusal(effort),
  admitted: ({ effort }) => admitted(effort),
  checks: ({ quick }) => checks(quick),
  mcp: ({ effort }) => mcp(effort),
  flood: ({ quick }) => flood(quick),
  bodies: () => bodies(),
  flush: ({ quick }) => flush(quick),
  start: ({ quick }) => start(quick),
};

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, json: { type: 'string', default: 'data/bench.json' } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !(name in SECTIONS));
if (unknown.length > 0)
  throw new Error(`Unknown: ${unknown.join(', ')}. Sections: ${Object.keys(SECTIONS).join(', ')}.`);

const run: Run = { quick: values.quick, effort: values.quick ? EFFORT.quick : EFFORT.full };
const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${PINS ? 'pinned' : 'not pinned'}`;
process.stdout.write(`${machine}${run.quick ? ', quick' : ''}\n`);

const sections: Section[] = [];
for (const [name, measure] of Object.entries(SECTIONS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  try {
    const section = await measure(run);
    sections.push(section);
    process.stdout.write(`${tableOf(section)}\n`);
  } finally {
    await stopServers();
    forgetUpstream();
  }
}
const rows = sections.flatMap((section) =>
  section.rows.map((row) => ({ section: section.name, ...row, met: isMet(row) })),
);
mkdirSync(dirname(values.json), { recursive: true });
writeFileSync(
  values.json,
  `${JSON.stringify({ machine, quick: run.quick, at: new Date().toISOString(), rows }, null, 2)}\n`,
);
process.stdout.write(`JSON: ${values.json}\n`);
