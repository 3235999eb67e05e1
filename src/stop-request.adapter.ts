/**
 * Being told to stop, by SIGTERM or SIGINT, from the moment on in which this is made: as a container's first process, a
 * server that does not listen for signals yet would never hear of them. A second signal is in a hurry.
 */
export class StopRequest {
  /** Resolves to the first signal. */
  readonly told: Promise<NodeJS.Signals>;
  private readonly hurrying = new AbortController();
  private first: NodeJS.Signals | undefined;

  constructor() {
    this.told = new Promise((resolve) => {
      const onSignal = (signal: NodeJS.Signals): void => {
        if (this.first !== undefined) return this.hurrying.abort(signal);
        this.first = signal;
        resolve(signal);
      };
      process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
    });
  }

  /** Whether a signal has come. */
  get isTold(): boolean {
    return this.first !== undefined;
  }

  /** Aborted, with the signal as its reason, when nothing is to be waited for that can be spared. */
  get hurry(): AbortSignal {
    return this.hurrying.signal;
  }
}
