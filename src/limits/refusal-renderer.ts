import type { Limit, Refusal, RequestContext } from '../request/request-context.js';
import type { Surface } from '../errors/error-body.js';
import { type RenderedRefusal, renderRefusal } from './refusal.js';

/** A rendering, the wait that it tells, and how many bytes it takes. */
interface Kept extends RenderedRefusal {
  readonly seconds: number;
  readonly contentLength: string;
}

/**
 * Renders refusals and keeps the last one of each shape: those of a flood are all alike, and writing them anew would
 * cost more than everything else that is done for them here.
 */
export class RefusalRenderer {
  /** By limit, surface and era: 24 at the most. */
  private readonly last = new Map<string, Kept>();

  /** See {@link renderRefusal}; `contentLength` is in bytes. */
  render(refusal: Refusal, context: Pick<RequestContext, 'surface' | 'modern'>): Kept {
    const shape = shapeOf(refusal.limit, context.surface, context.modern);
    const known = this.last.get(shape);
    if (known !== undefined && known.seconds === refusal.retryAfterSeconds) return known;
    const rendered = renderRefusal(refusal, context);
    const contentLength = String(Buffer.byteLength(rendered.body));
    const kept = { ...rendered, seconds: refusal.retryAfterSeconds, contentLength };
    this.last.set(shape, kept);
    return kept;
  }
}

function shapeOf(limit: Limit, surface: Surface, modern: boolean): string {
  return modern ? `${limit} ${surface} modern` : `${limit} ${surface}`;
}
