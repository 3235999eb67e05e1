// Loaded into the product before its own code: fifty more tools, to see whether a call's cost grows with their number.
import { OPERATIONS } from '../../src/capabilities/operations.js';
import type { Operation } from '../../src/capabilities/operation.js';

const [first] = OPERATIONS;
if (first === undefined) throw new Error('There is no operation to multiply.');
const copies = Array.from({ length: 50 }, (_, n) => ({ ...first, name: `${first.name}${n + 1}` }));
(OPERATIONS as Operation[]).push(...copies);
