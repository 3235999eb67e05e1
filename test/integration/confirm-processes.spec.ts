import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.adapter.js';
import { ConfirmClient } from '../support/confirm-client.js';
import { DATABASE_KINDS } from '../support/control-databases.js';

const RUNNER = fileURLToPath(new URL('../support/run-ts.mjs', import.meta.url));
const MODULE = fileURLToPath(new URL('../support/confirm-process.ts', import.meta.url));
const CONFIRMS = 50;

async function startProcess(args: string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [RUNNER, MODULE, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('http://')) return { child, url: line };
  }
  throw new Error('The process ended without listening.');
}

async function end(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  await new Promise((resolve) => child.once('exit', resolve));
}

describe.each(DATABASE_KINDS)('two processes on one database, $title', ({ available, create }) => {
  it.skipIf(!available)(
    'perform a confirmation exactly once, however many confirm it at once at either of them',
    { timeout: 90_000 },
    async () => {
      const scratch = await create();
      const sandbox = await startSandbox({ rateLimitPerMinute: 100_000 });
      const args = [scratch.url, sandbox.serverlessUrl, sandbox.iamUrl];
      const processes = await Promise.all([startProcess(args), startProcess(args)]);
      try {
        const callers = processes.map(
          ({ url }) => new ConfirmClient(url, `${sandbox.publicKey}:${sandbox.privateKey}`),
        );
        const [first, second] = callers as [ConfirmClient, ConfirmClient];
        const clusterId = await first.cluster(0);
        await second.cluster(0);
        const token = await first.token('delete_cluster', { clusterId });
        const answers = await Promise.all(
          Array.from({ length: CONFIRMS }, (_, n) => (n % 2 === 0 ? first : second).confirm(token)),
        );
        const words = answers.map((answer) => answer.json<{ code?: string; outcome: string }>());
        expect(words.filter(({ code }) => code === undefined).map(({ outcome }) => outcome)).toEqual(['done']);
        const losers = words.filter(({ code }) => code !== undefined);
        expect(new Set(losers.map(({ code }) => code))).toEqual(new Set(['CONFIRM_USED']));
        expect(losers).toHaveLength(CONFIRMS - 1);
        const performed = sandbox.requests.filter(({ method, status }) => method === 'DELETE' && status === 200);
        expect(performed.map(({ path }) => path)).toEqual([`/v1beta1/clusters/${clusterId}`]);
        const again = await Promise.all(callers.map((caller) => caller.confirm(token)));
        for (const answer of again) expect(answer.json()).toMatchObject({ code: 'CONFIRM_USED', outcome: 'done' });
      } finally {
        await Promise.all(processes.map(({ child }) => end(child)));
        await sandbox.close();
        await scratch.drop();
      }
    },
  );
});
