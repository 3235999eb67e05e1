/** One challenge of a `WWW-Authenticate` header. RFC 9110, section 11.6.1. */
export interface Challenge {
  /** In lower case. */
  readonly scheme: string;
  /** The single token of schemes that have one in place of parameters. */
  readonly token68: string | undefined;
  /** Names in lower case, values unquoted. */
  readonly params: ReadonlyMap<string, string>;
}

/** Longer headers are no challenge: nothing honest comes near, and parsing is paid for by unproven callers. */
const MAX_HEADER_LENGTH = 16_384;
const MAX_CHALLENGES = 16;
const MAX_PARAMS = 32;

const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
const TOKEN68_ALONE = /[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/y;
const SPACE = /[ \t]*/y;
const SPACE_AND_COMMAS = /[ \t,]*/y;
// A quoted string may hold a tab and the bytes of UTF-8, but no other control character. RFC 9110, section 5.6.4.
// oxlint-disable-next-line no-control-regex
const QUOTED = /"((?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[^\x00-\x08\x0a-\x1f\x7f])*)"/y;

/** Reads one header from left to right; every step moves on, so the work is linear in the header's length. */
class Scanner {
  position = 0;

  constructor(private readonly text: string) {}

  get done(): boolean {
    return this.position >= this.text.length;
  }

  /** The match of a sticky pattern at this position, or undefined; moves past it. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.position;
    const match = pattern.exec(this.text);
    if (match === null) return undefined;
    this.position += match[0].length;
    return match;
  }

  peek(): string {
    return this.text.charAt(this.position);
  }
}

interface Draft {
  scheme: string;
  token68: string | undefined;
  params: Map<string, string>;
  /** A parameter came twice: which of the two the other side means is anyone's guess. */
  ambiguous: boolean;
}

/**
 * Every well-formed challenge of one or more `WWW-Authenticate` headers, in order. Several may share a header, realms
 * may hold commas, and a header that turns malformed midway gives what was complete before. Never throws. RFC 9110,
 * section 11.6.1; RFC 7616, section 3.3.
 */
export function parseChallenges(header: string | readonly string[] | undefined): Challenge[] {
  const lines = header === undefined ? [] : typeof header === 'string' ? [header] : header;
  const found: Challenge[] = [];
  for (const line of lines) {
    if (found.length >= MAX_CHALLENGES) break;
    if (line.length <= MAX_HEADER_LENGTH) found.push(...parseLine(line));
  }
  return found.slice(0, MAX_CHALLENGES);
}

function parseLine(line: string): Challenge[] {
  const scanner = new Scanner(line);
  const drafts: Draft[] = [];
  for (;;) {
    scanner.take(SPACE_AND_COMMAS);
    if (scanner.done) break;
    if (drafts.length > MAX_CHALLENGES || !parseElement(scanner, drafts)) {
      // What was being read when the header turned malformed may be cut short: it does not count.
      drafts.pop();
      break;
    }
  }
  return drafts.filter((draft) => !draft.ambiguous);
}

/** Reads a parameter of the last challenge or the start of another one; false where the header is malformed. */
function parseElement(scanner: Scanner, drafts: Draft[]): boolean {
  const name = scanner.take(TOKEN)?.[0].toLowerCase();
  if (name === undefined) return false;
  const spaces = scanner.take(SPACE)?.[0].length ?? 0;
  if (scanner.peek() === '=') {
    const current = drafts.at(-1);
    if (current === undefined || current.token68 !== undefined) return false;
    return parseParam(scanner, current, name);
  }
  if (spaces === 0 && !scanner.done && scanner.peek() !== ',') return false;
  const draft: Draft = { scheme: name, token68: undefined, params: new Map(), ambiguous: false };
  drafts.push(draft);
  if (scanner.done || scanner.peek() === ',') return true;
  draft.token68 = scanner.take(TOKEN68_ALONE)?.[0];
  if (draft.token68 !== undefined) return endsHere(scanner);
  const first = scanner.take(TOKEN)?.[0].toLowerCase();
  scanner.take(SPACE);
  return first !== undefined && scanner.peek() === '=' && parseParam(scanner, draft, first);
}

/** Reads `= value` of a parameter whose name has been read. */
function parseParam(scanner: Scanner, draft: Draft, name: string): boolean {
  scanner.position += 1;
  scanner.take(SPACE);
  const quoted = scanner.take(QUOTED)?.[1];
  const value = quoted?.replaceAll(/\\(.)/g, '$1') ?? scanner.take(TOKEN)?.[0];
  if (value === undefined || draft.params.size >= MAX_PARAMS) return false;
  if (draft.params.has(name)) draft.ambiguous = true;
  draft.params.set(name, value);
  return endsHere(scanner);
}

function endsHere(scanner: Scanner): boolean {
  scanner.take(SPACE);
  return scanner.done || scanner.peek() === ',';
}
