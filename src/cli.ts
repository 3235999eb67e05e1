#!/usr/bin/env node
import { helpText, type Instruction, type Options, readCommandLine } from './command-line.js';
import type { Config } from './config/config.js';
import { failureText } from './failure-text.js';
import { StopRequest } from './stop-request.adapter.js';

/** Exit statuses. Contract: "Commands"; 78 is `EX_CONFIG` of sysexits.h. */
const EXIT = { clean: 0, unexpected: 1, configuration: 78 } as const;

/** What keeps the process alive after its work is done gets this long. */
const LAST_WORDS_MS = 3000;

// What only some commands need is imported where they need it: --help and check stay quick.

/** @returns the exit status */
async function run(instruction: Instruction): Promise<number> {
  switch (instruction.kind) {
    case 'help':
      process.stdout.write(helpText());
      return EXIT.clean;
    case 'version': {
      const { SERVER_VERSION } = await import('./capabilities/package-version.js');
      process.stdout.write(`${SERVER_VERSION}\n`);
      return EXIT.clean;
    }
    case 'misused':
      process.stderr.write(`${instruction.message} See tidb-cloud-mcp --help.\n`);
      return EXIT.configuration;
    case 'run':
      return runCommand(instruction);
  }
}

async function runCommand({ command, action, options = {} }: Extract<Instruction, { kind: 'run' }>): Promise<number> {
  // From here on it can be told to stop, though what it starts takes a second to load.
  const stop = command === 'serve' ? new StopRequest() : undefined;
  if (command === 'demo') return (await import('./demo.js')).startDemo(process.env);
  const { parseConfig } = await import('./config/parse-config.js');
  const parsed = parseConfig(process.env, command === 'stdio' ? 'stdio' : 'http');
  const explains = options.explain !== undefined || options.from !== undefined;
  if (command === 'check' && !explains) {
    const { checkReport } = await import('./config/check-report.js');
    process.stdout.write(checkReport(parsed));
  }
  if (!parsed.ok) {
    // A misspelt name is often why another setting is wrong; on `check` the report has the warnings.
    const warnings = command === 'check' && !explains ? [] : parsed.warnings;
    process.stderr.write([...warnings, ...parsed.problems].map((line) => `${line}\n`).join(''));
    return EXIT.configuration;
  }
  if (command === 'check') return explains ? explain(parsed.config, options) : EXIT.clean;
  if (action !== undefined) return (await import('./tenants.js')).manageTenants(action, options, parsed.config);
  if (command === 'stdio') return (await import('./stdio.js')).startStdio(parsed.config, parsed.warnings);
  return (await import('./serve.js')).startServer(parsed.config, parsed.warnings, stop ?? new StopRequest());
}

/** Says what becomes of pasted headers. */
async function explain(config: Config, { explain: headers, from }: Options): Promise<number> {
  const { explainClientAddress } = await import('./client-ip/explain.js');
  const { clientAddressOptions } = await import('./client-ip/client-address-options.js');
  const explained = explainClientAddress(clientAddressOptions(config), headers ?? [], from ?? '127.0.0.1');
  if (!explained.ok) {
    process.stderr.write(`${explained.message}\n`);
    return EXIT.configuration;
  }
  process.stdout.write(explained.lines.map((line) => `${line}\n`).join(''));
  return EXIT.clean;
}

function fail(error: unknown): void {
  process.stderr.write(`${failureText(error)}\n`, () => process.exit(EXIT.unexpected));
}

/** Lets the process end by itself, so that what it wrote is read to the end; but not for ever. */
function endWith(status: number): void {
  process.exitCode = status;
  setTimeout(() => process.exit(status), LAST_WORDS_MS).unref();
}

process.on('uncaughtException', fail).on('unhandledRejection', fail);
run(readCommandLine(process.argv.slice(2))).then(endWith, fail);
