import { fstatSync, writeSync } from 'node:fs';
import { LineWriter, reasonOf, type Written } from './line-writer.js';
import type { TelemetrySink } from './telemetry-sink.js';

/**
 * What may wait in the process for a slow reader of a standard stream; beyond it lines are lost, not requests held up.
 */
const MAX_WAITING_BYTES = 4_194_304;

/**
 * One of the process's standard streams, for logs and telemetry alike. Pipes go through Node's own stream and not
 * through the descriptor: a write to a full pipe then waits in the event loop's poll, whereas in the thread pool it
 * would hold a thread, and the exit of the process, for as long as nobody reads. A redirect to a file is written to
 * directly, as Node does too, because Node's stream doesn't come back from a disk that was full.
 */
export class StandardStream implements TelemetrySink {
  readonly #stream: NodeJS.WriteStream;
  readonly #isFile: boolean;
  readonly #writer = new LineWriter();
  #broken: string | undefined;

  constructor(private readonly fd: 1 | 2) {
    this.#stream = fd === 1 ? process.stdout : process.stderr;
    this.#isFile = isFile(fd);
    // Without a listener a reader that goes away would end the process.
    this.#stream.on('error', (error) => {
      this.#broken = reasonOf(error);
    });
  }

  /** Writes whole lines; they are lost where the reader is gone or too far behind. */
  write(lines: readonly string[], done: (arrived: number, reason?: string) => void = () => {}): void {
    if (this.#isFile) {
      const { arrived, reason } = this.#append(lines);
      done(arrived, reason);
      return;
    }
    const obstacle = this.#obstacle();
    if (obstacle !== undefined) {
      done(0, obstacle);
      return;
    }
    this.#stream.write(lines.join(''), (error) => {
      if (error) done(0, reasonOf(error));
      else done(lines.length);
    });
  }

  /** Resolves when everything written has left the process, or after `limitMs`. */
  flush(limitMs: number): Promise<void> {
    if (this.#isFile || this.#broken !== undefined || this.#stream.writableLength === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#stream.write('', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #append(lines: readonly string[]): Written {
    const batch = this.#writer.begin(lines);
    let written = 0;
    try {
      while (written < batch.bytes.length) written += writeSync(this.fd, batch.bytes, written);
      return this.#writer.end(batch, written);
    } catch (error) {
      return this.#writer.end(batch, written, error);
    }
  }

  #obstacle(): string | undefined {
    if (this.#broken !== undefined) return this.#broken;
    return this.#stream.writableLength > MAX_WAITING_BYTES ? 'reader too slow' : undefined;
  }
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

const streams: { 1?: StandardStream; 2?: StandardStream } = {};

/**
 * The one writer of standard output (1) or standard error (2): logs and telemetry share it, so their lines don't mix.
 */
export function standardStream(fd: 1 | 2): StandardStream {
  return (streams[fd] ??= new StandardStream(fd));
}
