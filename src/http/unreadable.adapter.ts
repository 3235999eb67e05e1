import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { errorBody } from '../errors/error-body.js';
import type { ErrorCode } from '../errors/error-code.js';
import { ANSWER_HEADER_LIST } from './pages.js';
import { linger } from './soft-close.adapter.js';

/** What Node's parser gives up for, and what is said of it; everything else is a plain 400. */
const SAID: Readonly<Record<string, readonly [number, ErrorCode, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'REQUEST_TIMEOUT', 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: [431, 'INVALID_ARGUMENT', 'The headers of the request are too large; 16 KB are allowed.'],
};
const UNREADABLE = [400, 'INVALID_ARGUMENT', 'This is no HTTP request that can be read.'] as const;

/** Node's own mark of the answer that a connection is sending. */
interface Sending {
  readonly _httpMessage?: ServerResponse | null;
}

/** Connections of which nothing more is read; they may bring any number of errors yet. */
const given = new WeakSet<Duplex>();

/**
 * Answers what Node's parser could not read, and closes the connection; it meets no layer. Answers to what came before
 * go out first: a call that was performed must not read that it was no request. Contract: "Admission, in order".
 */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET') return;
  const [status, code, message] = SAID[error.code ?? ''] ?? UNREADABLE;
  const { contentType, body } = errorBody('other', false, code, message, { status });
  const headers = [...ANSWER_HEADER_LIST, 'content-type', contentType, 'content-length', String(body.length)];
  headers.push('cache-control', 'no-store', 'connection', 'close');
  const lines = headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  giveUp(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`);
}

/** Closes a connection, once what it asked before is answered. For `CONNECT`, which nobody here serves. */
export function closeAfterAnswers(socket: Duplex): void {
  socket.on('error', () => undefined);
  giveUp(socket, '');
}

function giveUp(socket: Duplex, lastWords: string): void {
  if (given.has(socket)) return;
  given.add(socket);
  socket.pause();
  afterAnswers(socket, () => {
    // An answer that was the last one, or a caller who left, has closed it already.
    if (!socket.writable) return;
    if (lastWords !== '') socket.write(lastWords);
    linger(socket as Socket);
  });
}

/** Calls back once no answer is due whose request has arrived whole: the answer to half a request is this one. */
function afterAnswers(socket: Duplex, callBack: () => void): void {
  const { _httpMessage: current } = socket as Sending;
  if (current == null) callBack();
  else if (current.req.complete) current.once('close', () => afterAnswers(socket, callBack));
  // What has begun to be said cannot become something else.
  else if (current.headersSent) socket.destroy();
  else callBack();
}
