import { parseArgs, type ParseArgsOptionDescriptor } from 'node:util';

/** What the program can be told to do. Contract: "Commands". */
export const COMMANDS = {
  serve: 'Run the HTTP server: MCP at /mcp and REST at /v1, behind the limits.',
  stdio: 'Run the local MCP server on standard input and output, for one user and without limits.',
  demo: 'Run everything embedded: a sandbox of TiDB Cloud, a database in a file, the HTTP server.',
  check: 'Read the configuration, say what is in force, what is risky and what is wrong, and exit.',
  tenants: 'List, show, set or clear the limits that single tenants have instead of the defaults.',
} as const;

/** The name of one of {@link COMMANDS}. */
export type Command = keyof typeof COMMANDS;

const NAMES = Object.keys(COMMANDS).join(', ');

/** What `tenants` can be told to do. */
export const TENANT_ACTIONS = ['list', 'show', 'set', 'clear'] as const;

/** The options of all commands, as they were given. */
export interface Options {
  readonly explain?: readonly string[];
  readonly from?: string;
  readonly fingerprint?: string;
  readonly 'key-stdin'?: boolean;
  readonly subject?: string;
  readonly rps?: string;
  readonly burst?: string;
  readonly 'daily-quota'?: string;
}

/** What a command line asks for; `misused` says what is wrong with it. */
export type Instruction =
  | { kind: 'run'; command: Command; action?: (typeof TENANT_ACTIONS)[number]; options?: Options }
  | { kind: 'help' }
  | { kind: 'version' }
  | { kind: 'misused'; message: string };

const GENERAL = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} satisfies Record<string, ParseArgsOptionDescriptor>;

/** Options that only one command takes. */
const OPTIONS: Partial<Record<Command, Record<string, ParseArgsOptionDescriptor>>> = {
  check: { explain: { type: 'string', multiple: true }, from: { type: 'string' } },
  tenants: {
    fingerprint: { type: 'string' },
    'key-stdin': { type: 'boolean' },
    subject: { type: 'string' },
    rps: { type: 'string' },
    burst: { type: 'string' },
    'daily-quota': { type: 'string' },
  },
};

/** Reads the arguments behind the program's name; one that isn't known is never ignored. */
export function readCommandLine(args: readonly string[]): Instruction {
  const command = args.find(isCommand);
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...GENERAL, ...(command === undefined ? {} : OPTIONS[command]) },
      allowPositionals: true,
    });
    if (values['help'] === true) return { kind: 'help' };
    if (values['version'] === true) return { kind: 'version' };
    return readCommand(positionals, values as Options);
  } catch (error) {
    // Node's sentence goes on to explain how to pass such a text on, which no command here takes.
    const [message = ''] = (error as Error).message.split('. ');
    return { kind: 'misused', message: `${message.replace(/\.$/, '')}.` };
  }
}

function readCommand([command, ...rest]: readonly string[], values: Options): Instruction {
  if (command === undefined) return { kind: 'misused', message: `No command is given; there are ${NAMES}.` };
  if (!isCommand(command)) return { kind: 'misused', message: `Unknown command '${command}'; there are ${NAMES}.` };
  const options = Object.keys(values).length === 0 ? {} : { options: { ...values } };
  if (command === 'tenants') return readTenants(rest, options);
  const [surplus] = rest;
  if (surplus !== undefined) return { kind: 'misused', message: `Unexpected argument '${surplus}'.` };
  return { kind: 'run', command, ...options };
}

function readTenants([action, surplus]: readonly string[], options: { options?: Options }): Instruction {
  const known = TENANT_ACTIONS.find((name) => name === action);
  if (known === undefined) {
    const given = action === undefined ? 'No action is given' : `Unknown action '${action}'`;
    return { kind: 'misused', message: `${given}; tenants takes ${TENANT_ACTIONS.join(', ')}.` };
  }
  if (surplus !== undefined) return { kind: 'misused', message: `Unexpected argument '${surplus}'.` };
  return { kind: 'run', command: 'tenants', action: known, ...options };
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
    'check --explain "X-Forwarded-For: 1.2.3.4" --from 10.0.0.1',
    '  Say which client address a request with these headers, from this connection, would be counted under.',
    'tenants list',
    'tenants show|set|clear --fingerprint HEX | --key-stdin | --subject SUB  [--rps N] [--burst N] [--daily-quota N]',
    "  They run with the servers' own TIDB_MCP_CONTROL_DB_URL; the answer names the database.",
    '  --fingerprint takes 64 hex digits, or the 12 or more first ones, as the console, telemetry and capabilities',
    '  (caller.fingerprint) tell them, of a tenant that the database knows.',
    '  --key-stdin reads the credential (public:private, or a token) from standard input.',
    '  --subject names whose OAuth tokens they are, as TIDB_MCP_OAUTH_USERINFO_URL says.',
    '',
    'check prints what is in force, with warnings and risks, on standard output. What is wrong goes to standard error,',
    '  one a line, as it does where another command is started with it.',
    '',
    'Everything is configured by environment variables (TIDB_MCP_*, TIDB_CLOUD_*); `check` lists them all.',
    'Exit status: 0 after a clean stop, 78 for a mistake in the configuration or the command line, 1 for anything else.',
    '',
  ].join('\n');
}
