import type { LoadOrder, LoadResult } from './load.js';
import { Child, type Server, stopServers } from './processes.js';
import { forgetUpstream } from './product.js';

/** Text of a request with these headers; a `Host` is added. */
export function requestText(line: string, headers: Readonly<Record<string, string>> = {}, body = ''): string {
  const all = { host: '127.0.0.1', ...headers, ...(body === '' ? {} : { 'content-length': String(body.length) }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** The generator's process. */
export class Load {
  private readonly child: Child;

  /** @param polite makes way for whatever else is on its core */
  constructor(polite = false) {
    this.child = Child.start({ file: 'load.js', core: 'load', polite, output: '/dev/stderr' });
  }

  run(order: LoadOrder): Promise<LoadResult> {
    return this.child.ask<LoadResult>(order);
  }

  stop(): Promise<void> {
    return this.child.stop('SIGKILL');
  }
}

/** A server and the requests that it gets. */
export interface Contender {
  readonly name: string;
  readonly server: Server;
  readonly request: string;
  /** The status that nearly all answers have to have, or the run measured something else. */
  readonly status: number;
}

/** How much is asked. */
export interface Effort {
  /**
   * How often all servers are started anew: what a process's compiler makes of the same code differs by some percent.
   */
  readonly generations: number;
  /** Rounds of one generation. */
  readonly rounds: number;
  readonly warmUp: number;
  readonly count: number;
  readonly connections: number;
}

/** The efforts of a full run and of a quick one. */
export const EFFORT = {
  full: { generations: 5, rounds: 9, warmUp: 30_000, count: 4_000, connections: 64 },
  quick: { generations: 1, rounds: 7, warmUp: 5_000, count: 1_500, connections: 64 },
} as const satisfies Record<string, Effort>;

/**
 * CPU microseconds a request of each contender's server, user and system, one value for each round of each generation.
 * @param begin starts the servers of a generation
 */
export async function cpuPerRequest(
  effort: Effort,
  begin: () => Promise<readonly Contender[]>,
): Promise<Map<string, number[]>> {
  const measured = new Map<string, number[]>();
  for (let generation = 0; generation < effort.generations; generation += 1) {
    const load = new Load();
    await measure(load, await begin(), effort, measured);
    await load.stop();
    await stopServers();
    forgetUpstream();
  }
  return measured;
}

/** Rounds alternate between contenders, so that what else happens on the machine meets all of them. */
async function measure(
  load: Load,
  contenders: readonly Contender[],
  effort: Effort,
  measured: Map<string, number[]>,
): Promise<void> {
  let from = 0;
  const ask = async ({ name, server, request, status }: Contender, count: number): Promise<number> => {
    const before = await server.child.usage();
    const order = { port: server.port, request, connections: effort.connections, count, from };
    const { answers, statuses } = await load.run(order);
    const after = await server.child.usage();
    from += count;
    if ((statuses[status] ?? 0) < answers * 0.95) {
      throw new Error(`${name} answered ${JSON.stringify(statuses)} instead of ${status}.`);
    }
    return (after.cpuMicros - before.cpuMicros) / answers;
  };
  for (const contender of contenders) await ask(contender, effort.warmUp);
  for (let round = 0; round < effort.rounds; round += 1) {
    for (const contender of contenders) {
      const values = measured.get(contender.name) ?? [];
      values.push(await ask(contender, effort.count));
      measured.set(contender.name, values);
    }
  }
}
