const NEWLINE = 0x0a;

/** What became of lines: how many arrived whole, from the first on, and why not all. */
export interface Written {
  readonly arrived: number;
  readonly reason?: string;
}

/** Lines as bytes, which hold until the next batch begins. */
export interface LineBatch {
  readonly bytes: Buffer;
  /** How many lines of the caller's are in them. */
  readonly lines: number;
  /** Newlines before the first of them. */
  readonly prefix: number;
}

/** UTF-8 takes at most so many bytes for each unit of a string. */
const MOST_BYTES_A_UNIT = 3;
/** A larger batch has a buffer of its own, which nobody keeps. */
const MAX_KEPT_BYTES = 1_048_576;

/**
 * Keeps account of lines that go to a file in pieces, one batch at a time: how many arrived whole when a piece fails,
 * and whether the file now ends in half a line, which the next one must not be glued to.
 */
export class LineWriter {
  #torn = false;
  /** Kept from batch to batch: a buffer for each would be most of what writing a line costs. */
  #space = Buffer.alloc(0);

  /** Lines as bytes, behind a newline where the file ends in half a line. */
  begin(lines: readonly string[]): LineBatch {
    const prefix = this.#torn ? 1 : 0;
    const text = `${prefix === 1 ? '\n' : ''}${lines.join('')}`;
    const space = this.#spaceFor(text.length * MOST_BYTES_A_UNIT);
    return { bytes: space.subarray(0, space.write(text)), lines: lines.length, prefix };
  }

  /** Accounts for the first `written` bytes of what {@link begin} gave having arrived. */
  end({ bytes, lines, prefix }: LineBatch, written: number, error?: unknown): Written {
    if (written > 0) this.#torn = bytes[written - 1] !== NEWLINE;
    if (written === bytes.length) return { arrived: lines };
    const arrived = Math.max(0, countNewlines(bytes, written) - prefix);
    return error === undefined ? { arrived } : { arrived, reason: reasonOf(error) };
  }

  #spaceFor(bytes: number): Buffer {
    if (bytes > MAX_KEPT_BYTES) return Buffer.allocUnsafe(bytes);
    if (bytes > this.#space.length) this.#space = Buffer.allocUnsafeSlow(Math.min(MAX_KEPT_BYTES, bytes * 2));
    return this.#space;
  }
}

/** A system error's code, which names no path. */
export function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'failed';
}

function countNewlines(bytes: Buffer, end: number): number {
  let newlines = 0;
  let index = bytes.indexOf(NEWLINE);
  while (index >= 0 && index < end) {
    newlines += 1;
    index = bytes.indexOf(NEWLINE, index + 1);
  }
  return newlines;
}
