import type { z } from 'zod';
import type { InputIssue } from '../errors/app-error.js';
import { invalidInput, unknownName } from './input.js';
import type { Operation } from './operation.js';

/** The names in a route's path that callers fill: `clusterId` of `/clusters/:clusterId`. */
export function pathNames(operation: Operation): string[] {
  return [...operation.route.path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
}

/** How one operation's input is read from a request; made once for each route. */
export interface RouteInput {
  /**
   * The input as the operation takes it, unvalidated but for names.
   * @param body parsed; looked at only where the route has one
   * @throws AppError INVALID_ARGUMENT for query parameters that are unknown or given twice, and for a body that is no
   * JSON object: silently dropping one would answer something else than was asked
   */
  read(params: unknown, query: unknown, body?: unknown): Record<string, unknown>;
}

/** Prepares the reading of an operation's input: from path and query, or with POST from path and body. */
export function routeInput(operation: Operation): RouteInput {
  const inPath = new Set(pathNames(operation));
  const hasBody = operation.route.method === 'POST';
  const allowed = hasBody ? [] : Object.keys(operation.input.shape).filter((name) => !inPath.has(name));
  const numbers = new Set(allowed.filter((name) => isNumber(operation.input.shape[name])));
  return {
    read(params, query, body) {
      const raw: Record<string, unknown> = hasBody
        ? { ...members(body), ...(params as object) }
        : { ...(params as object) };
      const issues: InputIssue[] = [];
      for (const [name, value] of Object.entries((query ?? {}) as Record<string, unknown>)) {
        if (!allowed.includes(name)) issues.push(unknownName(name, allowed));
        else if (typeof value !== 'string') issues.push({ path: name, message: 'must be given once' });
        else raw[name] = numbers.has(name) ? toNumber(value) : value;
      }
      if (issues.length > 0) throw invalidInput(issues.slice(0, MOST_ISSUES));
      return raw;
    },
  };
}

function members(body: unknown): object {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw invalidInput([{ path: '', message: 'The body must be a JSON object' }]);
}

/** A URL may hold hundreds of names; the first mistakes say enough. */
const MOST_ISSUES = 10;

function isNumber(schema: z.core.$ZodType | undefined): boolean {
  const inner = schema?._zod.def as { type: string; innerType?: z.core.$ZodType } | undefined;
  return inner?.innerType === undefined ? inner?.type === 'number' : isNumber(inner.innerType);
}

/** Only plain decimal digits are a number; anything else stays text, which the schema refuses by name. */
function toNumber(text: string): unknown {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}
