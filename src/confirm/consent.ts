import type { DestructiveName } from './destructive-operation.js';

/** What a person is asked about: an operation, in the words that its preflight answered. */
export interface Question {
  readonly operation: DestructiveName;
  readonly summary: string;
}

/**
 * Asks the person in front of the client, where the client can; returns once they have agreed.
 * @throws ConsentNeeded where they have not been asked yet, AppError where they declined
 */
export type Consent = (question: Question) => void;

/** A confirm stops here until a person has answered; nothing is consumed meanwhile. */
export class ConsentNeeded extends Error {
  override readonly name = 'ConsentNeeded';

  constructor(readonly question: Question) {
    super('A person has to be asked first.');
  }
}
