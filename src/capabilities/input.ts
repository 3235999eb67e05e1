import type { z } from 'zod';
import { AppError, type InputIssue } from '../errors/app-error.js';
import type { Operation } from './operation.js';

/** Longer names of a caller's are cut before they are written back. */
const LONGEST_ECHO = 64;

/**
 * Reads an operation's input.
 * @param raw undefined stands for no members at all
 * @throws AppError INVALID_ARGUMENT, which names every mistake and what is allowed
 */
export function readInput<I extends z.ZodObject>(operation: Operation<I>, raw: unknown): z.output<I> {
  const parsed = operation.input.safeParse(raw === undefined ? {} : raw, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw invalidInput(parsed.error.issues.flatMap((issue) => describeIssue(issue, Object.keys(operation.input.shape))));
}

/** The error of an input with these mistakes; its sentence names them all. */
export function invalidInput(issues: InputIssue[]): AppError {
  const sentence = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  return new AppError('INVALID_ARGUMENT', `Invalid arguments: ${sentence}.`, { errors: issues });
}

/** The mistake of a name that is not one of the allowed ones. */
export function unknownName(name: string, allowed: readonly string[]): InputIssue {
  const names = allowed.length === 0 ? 'nothing is allowed here' : `allowed: ${allowed.join(', ')}`;
  return { path: name.slice(0, LONGEST_ECHO), message: `is not known; ${names}` };
}

/** How many unknown names of one input are written back; the first ones say enough. */
const MOST_UNKNOWN_NAMES = 10;

function describeIssue(issue: z.core.$ZodIssue, allowed: readonly string[]): InputIssue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MOST_UNKNOWN_NAMES).map((key) => unknownName(key, allowed));
  }
  return [{ path: issue.path.join('.'), message: sentenceOf(issue) }];
}

function sentenceOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is required';
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  // Fields say in their schema what they must be; where one does not, its type says it.
  return issue.message.replace(/^Invalid input: expected (\w+), received .*$/, 'must be of type $1');
}
