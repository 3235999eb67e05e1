import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { type Consent, ConsentNeeded, type Question } from '../confirm/consent.js';
import { AppError } from '../errors/app-error.js';

/** The name of the one question, and of its one field. */
const KEY = 'confirm';

/**
 * How a client of the revision 2026-07-28 that declares elicitation is asked natively: the tool answers
 * `input_required`, and the same call comes again with the person's answer. Undefined for every other client, for which
 * the confirmation token alone decides; a token is needed here just the same.
 */
export function consentOf(context: ServerContext): ((confirmationToken: string) => Consent) | undefined {
  if (!canElicit(context)) return undefined;
  const { inputResponses, requestState } = context.mcpReq;
  return (confirmationToken) => (question) => {
    const answer = inputResponse(inputResponses, KEY);
    if (answer.kind !== 'elicit') throw new ConsentNeeded(question);
    // The state is the token: unguessable, kept as a digest, bound to the caller, and one entry of the ledger.
    if (requestState() !== confirmationToken) throw strayAnswer();
    if (answer.action !== 'accept' || answer.content?.[KEY] !== true) throw declined();
  };
}

/** The question as the protocol carries it. */
export function askForConsent({ summary }: Question, args: unknown): InputRequiredResult {
  const { confirmationToken } = args as { confirmationToken: string };
  return inputRequired({
    inputRequests: {
      [KEY]: inputRequired.elicit({
        message: summary,
        requestedSchema: {
          type: 'object',
          properties: { [KEY]: { type: 'boolean', title: 'Do this', description: 'It is done once, at once.' } },
          required: [KEY],
        },
      }),
    },
    requestState: confirmationToken,
  });
}

interface Envelope {
  readonly [CLIENT_CAPABILITIES_META_KEY]?: { readonly elicitation?: Record<string, unknown> };
}

/** Only the newer revision's requests say in themselves what the client can do. */
function canElicit({ mcpReq: { envelope } }: ServerContext): boolean {
  const capabilities = (envelope as Envelope)?.[CLIENT_CAPABILITIES_META_KEY];
  const elicitation = capabilities?.elicitation;
  if (elicitation === undefined) return false;
  return 'form' in elicitation || !('url' in elicitation);
}

function strayAnswer(): AppError {
  const message = 'must be the state that came with the question about this very confirmation';
  return new AppError('INVALID_ARGUMENT', `Invalid arguments: requestState: ${message}.`, {
    errors: [{ path: 'requestState', message }],
  });
}

function declined(): AppError {
  return new AppError(
    'FORBIDDEN',
    'The user declined this operation. Nothing was changed. Do not confirm it again unless the user asks for it.',
  );
}
