import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client whose connection ends may take to read why. */
const LINGER_MS = 1000;

/**
 * Ends the request's connection so that a client that is still sending a body gets to read the answer: to close it with
 * bytes unread would reset it, and many clients then report a broken connection instead of the refusal that they were
 * sent. Nothing more is read, and a second later it is closed all the same. The answer has to say
 * `Connection: close`.
 */
export function closeSoftly({ socket }: IncomingMessage): void {
  socket.destroySoon = () => linger(socket);
}

/** In the place of what Node does once such an answer is complete: says the end, and reads nothing more. */
export function linger(socket: Socket): void {
  socket.end();
  // By this mark Node's server leaves a connection unread; it would take in the rest of the body otherwise.
  Object.assign(socket, { _paused: true });
  socket.pause();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
