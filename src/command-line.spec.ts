import { describe, expect, it } from 'vitest';
import { COMMANDS, helpText, readCommandLine } from './command-line.js';

describe('the command line', () => {
  it.each(Object.keys(COMMANDS))('knows %s', (command) => {
    const action = command === 'tenants' ? { action: 'list' } : {};
    expect(readCommandLine([command, ...Object.values(action)])).toEqual({ kind: 'run', command, ...action });
    expect(helpText()).toContain(`  ${command} `);
  });

  it.each([
    [['--help'], 'help'],
    [['-h'], 'help'],
    [['serve', '--help'], 'help'],
    [['--version'], 'version'],
    [['-v'], 'version'],
  ])('answers %j', (args, kind) => {
    expect(readCommandLine(args)).toEqual({ kind });
  });

  it.each([
    [[], 'No command is given; there are serve, stdio, demo, check, tenants.'],
    [['server'], "Unknown command 'server'; there are serve, stdio, demo, check, tenants."],
    [['toString'], "Unknown command 'toString'; there are serve, stdio, demo, check, tenants."],
    [['serve', 'now'], "Unexpected argument 'now'."],
    [['serve', '--port=1'], "Unknown option '--port'."],
    [['serve', '--rps', '1'], "Unknown option '--rps'."],
    [['tenants'], 'No action is given; tenants takes list, show, set, clear.'],
    [['tenants', 'drop'], "Unknown action 'drop'; tenants takes list, show, set, clear."],
    [['tenants', 'set', 'x'], "Unexpected argument 'x'."],
    [['--version=1'], "Option '-v, --version' does not take an argument."],
  ])('says what is wrong with %j', (args, message) => {
    expect(readCommandLine(args)).toEqual({ kind: 'misused', message });
  });

  it('tells in its help what `check` prints where', () => {
    expect(helpText()).toMatch(/warnings and risks, on standard output\..*wrong goes to standard error/);
  });

  it('tells in its help which database `tenants` uses, and how much of a fingerprint names a tenant', () => {
    expect(helpText()).toMatch(/servers' own TIDB_MCP_CONTROL_DB_URL[^]*64 hex digits, or the 12 or more first ones/);
  });

  it('takes the options of a command, each as it was given', () => {
    expect(readCommandLine(['tenants', 'set', '--fingerprint', 'ab', '--rps', '0.5'])).toEqual({
      kind: 'run',
      command: 'tenants',
      action: 'set',
      options: { fingerprint: 'ab', rps: '0.5' },
    });
    expect(readCommandLine(['check', '--explain', 'A: b', '--explain', 'C: d', '--from', '::1'])).toEqual({
      kind: 'run',
      command: 'check',
      options: { explain: ['A: b', 'C: d'], from: '::1' },
    });
  });
});
