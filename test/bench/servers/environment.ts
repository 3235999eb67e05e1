/** The port that this baseline listens on. */
export const PORT = Number(process.env['PORT']);

/** The bytes that this baseline answers, those of the product. */
export const BODY = process.env['BODY'] ?? '{}';

/** The media type of those bytes. */
export const CONTENT_TYPE = process.env['CONTENT_TYPE'] ?? 'application/json';

/** The headers of the product's answer that no framework adds by itself, by name. */
export const HEADERS = JSON.parse(process.env['HEADERS'] ?? '{"cache-control":"no-store"}') as Record<string, string>;

/** Whether this baseline refuses everything (429) or serves everything. */
export const REFUSES = process.env['MODE'] === 'refuse';

/** A limit that is never met, or always; four of them stand for the product's four layers. */
export const LIMIT = REFUSES ? 1 : 1_000_000_000;
export const LAYERS = ['preauth', 'tenant', 'quota', 'global'] as const;

/** One window for all; long enough that nothing refills while a refusing baseline is measured. */
export const WINDOW_MS = 86_400_000;
