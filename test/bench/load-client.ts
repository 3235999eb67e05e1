import type { LoadOrder, LoadResult } from './load.js';
import { Child, type Server } from './processes.js';

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
  readonly rounds: number;
  readonly warmUp: number;
  readonly count: number;
  readonly connections: number;
}

/** The efforts of a full run and of a quick one. */
export const EFFORT = {
  full: { rounds: 41, warmUp: 30_000, count: 4_000, connections: 64 },
  quick: { rounds: 7, warmUp: 5_000, count: 1_500, connections: 64 },
} as const satisfies Record<string, Effort>;

/**
 * CPU microseconds a request of each contender's server, user and system, one value for each round. Rounds alternate
 * between contenders, so that what else happens on the machine meets all of them.
 */
export async function cpuPerRequest(
  load: Load,
  contenders: readonly Contender[],
  effort: Effort,
): Promise<Map<string, number[]>> {
  const measured = new Map(contenders.map(({ name }) => [name, [] as number[]]));
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
    for (const contender of contenders) measured.get(contender.name)?.push(await ask(contender, effort.count));
  }
  return measured;
}
