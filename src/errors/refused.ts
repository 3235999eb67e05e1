/**
 * Thrown by whatever turns a request away with one of the four 429s; the refusal itself is the value in the request's
 * context. One frozen object without a stack, since it is thrown at an attacker's rate.
 */
export const REFUSED: object = Object.freeze(Object.create(null) as object);
