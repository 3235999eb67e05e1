import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { DATABASE_KINDS, type DatabaseKind, type ScratchDatabase } from '../support/control-databases.js';
import { freePort } from '../support/free-port.js';
import { instanceEnv, type Running, startInstance, startNginx } from './processes.js';
import { tool } from './tools.js';

/** The program in front of the instances. */
export const NGINX = tool('nginx', ['-v']);
const mysql = DATABASE_KINDS.find(({ name }) => name === 'MySQL protocol');

/** Whether a whole deployment can run here, and the end of a title that says why not. */
export const DEPLOYABLE = {
  available: NGINX.available && mysql?.available === true,
  note: NGINX.note || (mysql?.available === true ? '' : ' (skipped: TEST_MYSQL_URL is not set)'),
};

const KEYS = ['ONE', 'TWO', 'THREE', 'FOUR'].map((name) => ({
  publicKey: `DEPLOY${name}`,
  privateKey: `private-half-of-${name.toLowerCase()}`,
}));

/** A tenant's key, as a bearer credential. */
export const credential = (index: number): string => `${KEYS[index]?.publicKey}:${KEYS[index]?.privateKey}`;

/** Two instances on one database server, behind nginx, in front of a sandbox. */
export interface Deployment {
  readonly url: string;
  readonly nginx: Running;
  readonly instances: [Running, Running];
  readonly database: ScratchDatabase;
  /** Starts an instance anew, where it was. */
  restart(index: 0 | 1): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts one; `overrides` are variables of both instances, `create` makes their database. What was begun is ended where
 * a part does not start.
 */
export async function startDeployment(
  overrides: Record<string, string>,
  create: DatabaseKind['create'] = byDefault(),
): Promise<Deployment> {
  const undo: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    return { ...(await startParts(overrides, create, undo)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function byDefault(): DatabaseKind['create'] {
  if (mysql === undefined) throw new Error('There is no suite for MySQL-protocol servers.');
  return mysql.create;
}

async function startParts(
  overrides: Record<string, string>,
  create: DatabaseKind['create'],
  undo: (() => unknown)[],
): Promise<Omit<Deployment, 'stop'>> {
  const folder = mkdtempSync(join(tmpdir(), 'deployment-'));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const database = await create();
  undo.push(() => database.drop());
  const sandbox: Sandbox = await startSandbox({ rateLimitPerMinute: 100_000, keys: KEYS });
  undo.push(() => sandbox.close());
  const ports: [number, number] = [await freePort(), await freePort()];
  const startOne = (index: 0 | 1) =>
    startInstance(`instance-${index + 1}`, folder, {
      ...instanceEnv(ports[index], sandbox, database.url),
      ...overrides,
    });
  // One after the other, so that there is always one to be ended.
  const first = await startOne(0);
  const instances: [Running, Running] = [first, first];
  undo.push(() => Promise.all(instances.map((instance) => instance.end())));
  instances[1] = await startOne(1);
  const front = await startNginx(folder, ports);
  undo.push(() => front.end('SIGQUIT'));
  return {
    url: `http://127.0.0.1:${front.port}`,
    nginx: front,
    instances,
    database,
    restart: async (index) => void (instances[index] = await startOne(index)),
  };
}
