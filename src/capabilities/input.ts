import { z } from 'zod';
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
  return readBy(operation.input, raw === undefined ? {} : raw);
}

/**
 * Reads a value by a schema of members.
 * @param path where the value stands in the whole input
 * @throws AppError INVALID_ARGUMENT, which names every mistake and what is allowed
 */
export function readBy<I extends z.ZodObject>(schema: I, raw: unknown, path?: string): z.output<I> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  // Mistakes are read a second time, with what was given: asking for that beforehand makes a good input ten times dearer.
  const mistakes = schema.safeParse(raw, { reportInput: true }).error ?? parsed.error;
  const issues = mistakes.issues.flatMap((issue) => describeIssue(issue, schema));
  throw invalidInput(issues.map(({ path: at, message }) => ({ path: joined(path, at), message })));
}

function joined(path: string | undefined, rest: string): string {
  if (path === undefined) return rest;
  return rest === '' ? path : `${path}.${rest}`;
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

function describeIssue(issue: z.core.$ZodIssue, schema: z.ZodObject): InputIssue[] {
  const at = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const allowed = allowedAt(schema, issue.path);
    return issue.keys
      .slice(0, MOST_UNKNOWN_NAMES)
      .map((key) => unknownName(key, allowed))
      .map(({ path, message }) => ({ path: joined(at === '' ? undefined : at, path), message }));
  }
  return [{ path: at, message: sentenceOf(issue) }];
}

/** The names that an object somewhere in the input takes. */
function allowedAt(schema: z.ZodObject, path: readonly PropertyKey[]): string[] {
  let at: z.core.$ZodType | undefined = schema;
  for (const key of path) at = memberOf(withoutWrapping(at), key);
  const inner = withoutWrapping(at);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

function memberOf(schema: z.core.$ZodType | undefined, key: PropertyKey): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodArray) return schema.element;
  return schema instanceof z.ZodObject ? (schema.shape[String(key)] as z.core.$ZodType | undefined) : undefined;
}

function withoutWrapping(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  const inner = (schema?._zod.def as { innerType?: z.core.$ZodType } | undefined)?.innerType;
  return inner === undefined ? schema : withoutWrapping(inner);
}

function sentenceOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is required';
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  // Fields say in their schema what they must be; where one does not, its type says it.
  return issue.message.replace(/^Invalid input: expected (\w+), received .*$/, 'must be of type $1');
}
