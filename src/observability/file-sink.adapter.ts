import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LineWriter, reasonOf, type Written } from './line-writer.js';
import type { TelemetrySink } from './telemetry-sink.js';

/**
 * Appends telemetry to a file that only its owner reads. The file is opened for each batch: that survives rotation
 * and a disk that is full for a while, at the price of one open per batch.
 */
export class FileSink implements TelemetrySink {
  readonly #writer = new LineWriter();

  constructor(private readonly path: string) {}

  write(lines: readonly string[], done: (arrived: number, reason?: string) => void): void {
    void this.#report(lines, done);
  }

  async #report(lines: readonly string[], done: (arrived: number, reason?: string) => void): Promise<void> {
    const { arrived, reason } = await this.#write(lines);
    done(arrived, reason);
  }

  async #write(lines: readonly string[]): Promise<Written> {
    try {
      const file = await this.#open();
      try {
        return await this.#append(file, lines);
      } finally {
        await file.close().catch(() => undefined);
      }
    } catch (error) {
      return { arrived: 0, reason: reasonOf(error) };
    }
  }

  async #open(): Promise<FileHandle> {
    const openIt = () => open(this.path, 'a', 0o600);
    return openIt().catch(async (error: unknown) => {
      if (reasonOf(error) !== 'ENOENT') throw error;
      await mkdir(dirname(this.path), { recursive: true });
      return openIt();
    });
  }

  async #append(file: FileHandle, lines: readonly string[]): Promise<Written> {
    const batch = this.#writer.begin(lines);
    let written = 0;
    try {
      while (written < batch.bytes.length) {
        written += (await file.write(batch.bytes, written, batch.bytes.length - written)).bytesWritten;
      }
      return this.#writer.end(batch, written);
    } catch (error) {
      return this.#writer.end(batch, written, error);
    }
  }
}
