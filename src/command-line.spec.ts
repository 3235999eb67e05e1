import { describe, expect, it } from 'vitest';
import { COMMANDS, helpText, readCommandLine } from './command-line.js';

describe('the command line', () => {
  it.each(Object.keys(COMMANDS))('knows %s', (command) => {
    expect(readCommandLine([command])).toEqual({ kind: 'run', command });
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
    [[], 'No command is given.'],
    [['server'], "Unknown command 'server'."],
    [['toString'], "Unknown command 'toString'."],
    [['serve', 'now'], "Unexpected argument 'now'."],
    [['serve', '--port=1'], "Unknown option '--port'."],
    [['--version=1'], "Option '-v, --version' does not take an argument."],
  ])('says what is wrong with %j', (args, message) => {
    expect(readCommandLine(args)).toEqual({ kind: 'misused', message });
  });
});
