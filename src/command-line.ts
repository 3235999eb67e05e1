import { parseArgs } from 'node:util';

/** What the program can be told to do. Contract: "Commands". */
export const COMMANDS = {
  serve: 'Run the HTTP server: MCP at /mcp and REST at /v1, behind the limits.',
  stdio: 'Run the local MCP server on standard input and output, for one user and without limits.',
  demo: 'Run everything embedded: a sandbox of TiDB Cloud, a database in a file, the HTTP server.',
  check: 'Read the configuration, say what is in force, what is risky and what is wrong, and exit.',
} as const;

/** The name of one of {@link COMMANDS}. */
export type Command = keyof typeof COMMANDS;

/** What a command line asks for; `misused` says what is wrong with it. */
export type Instruction =
  { kind: 'run'; command: Command } | { kind: 'help' } | { kind: 'version' } | { kind: 'misused'; message: string };

/** Reads the arguments behind the program's name; one that isn't known is never ignored. */
export function readCommandLine(args: readonly string[]): Instruction {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } },
      allowPositionals: true,
    });
    if (values.help === true) return { kind: 'help' };
    if (values.version === true) return { kind: 'version' };
    return readCommand(positionals);
  } catch (error) {
    // Node's sentence goes on to explain how to pass such a text on, which no command here takes.
    const [message = ''] = (error as Error).message.split('. ');
    return { kind: 'misused', message: `${message.replace(/\.$/, '')}.` };
  }
}

function readCommand([command, surplus]: readonly string[]): Instruction {
  if (command === undefined) return { kind: 'misused', message: 'No command is given.' };
  if (!isCommand(command)) return { kind: 'misused', message: `Unknown command '${command}'.` };
  if (surplus !== undefined) return { kind: 'misused', message: `Unexpected argument '${surplus}'.` };
  return { kind: 'run', command };
}

function isCommand(text: string): text is Command {
  return Object.hasOwn(COMMANDS, text);
}

/** The text of `--help`. */
export function helpText(): string {
  const commands = Object.entries(COMMANDS).map(([name, does]) => `  ${name.padEnd(7)} ${does}`);
  return [
    'tidb-cloud-mcp: TiDB Cloud for agents and integration platforms, behind limits.',
    '',
    'Usage: tidb-cloud-mcp COMMAND',
    '',
    ...commands,
    '',
    '  -h, --help     Print this text.',
    '  -v, --version  Print the version.',
    '',
    'Everything is configured by environment variables (TIDB_MCP_*, TIDB_CLOUD_*); `check` lists them all.',
    'Exit status: 0 after a clean stop, 78 for a mistake in the configuration or the command line, 1 for anything else.',
    '',
  ].join('\n');
}
