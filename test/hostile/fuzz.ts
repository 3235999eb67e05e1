import { parseArgs } from 'node:util';
import { siege } from './siege.js';

/** `[--seconds 60] [--seed N] [--sockets 10000]`: besieges the built server and says what came of it. */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
      sockets: { type: 'string', default: '10000' },
    },
  });
  const options = { seconds: Number(values.seconds), seed: Number(values.seed), sockets: Number(values.sockets) };
  console.log(`besieging for ${options.seconds} s with seed ${options.seed} and ${options.sockets} held sockets`);
  const { failures, ...report } = await siege(options);
  console.log(JSON.stringify(report, null, 1));
  for (const failure of failures) console.error(`FAILED: ${failure}`);
  if (failures.length === 0) console.log('Everything held.');
  process.exitCode = failures.length === 0 ? 0 : 1;
}
