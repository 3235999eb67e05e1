const NEWLINE = 0x0a;

/** What became of lines: how many arrived whole, from the first on, and why not all. */
export interface Written {
  readonly arrived: number;
  readonly reason?: string;
}

/**
 * Keeps account of lines that go to a file in pieces: how many arrived whole when a piece fails, and whether the file
 * now ends in half a line, which the next one must not be glued to.
 */
export class LineWriter {
  #torn = false;

  /** Lines as bytes, behind a newline where the file ends in half a line. */
  begin(lines: readonly string[]): { bytes: Buffer; prefix: number } {
    const prefix = this.#torn ? 1 : 0;
    return { bytes: Buffer.from(`${prefix === 1 ? '\n' : ''}${lines.join('')}`), prefix };
  }

  /** Accounts for the first `written` bytes of what {@link begin} gave having arrived. */
  end({ bytes, prefix }: { bytes: Buffer; prefix: number }, written: number, error?: unknown): Written {
    if (written > 0) this.#torn = bytes[written - 1] !== NEWLINE;
    const arrived = Math.max(0, countNewlines(bytes, written) - prefix);
    return error === undefined ? { arrived } : { arrived, reason: reasonOf(error) };
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
