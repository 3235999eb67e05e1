#!/usr/bin/env node
import { type Command, helpText, type Instruction, readCommandLine } from './command-line.js';
import { failureText } from './failure-text.js';

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
      return runCommand(instruction.command);
  }
}

async function runCommand(command: Command): Promise<number> {
  if (command === 'demo') return (await import('./demo.js')).startDemo(process.env);
  const { parseConfig } = await import('./config/parse-config.js');
  const parsed = parseConfig(process.env, command === 'stdio' ? 'stdio' : 'http');
  if (command === 'check') {
    const { checkReport } = await import('./config/check-report.js');
    process.stdout.write(checkReport(parsed));
  }
  if (!parsed.ok) {
    // A misspelt name is often why another setting is wrong; on `check` the report has the warnings.
    const warnings = command === 'check' ? [] : parsed.warnings;
    process.stderr.write([...warnings, ...parsed.problems].map((line) => `${line}\n`).join(''));
    return EXIT.configuration;
  }
  if (command === 'check') return EXIT.clean;
  if (command === 'stdio') return (await import('./stdio.js')).startStdio(parsed.config, parsed.warnings);
  return (await import('./serve.js')).startServer(parsed.config, parsed.warnings);
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
