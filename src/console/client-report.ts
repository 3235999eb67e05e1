import type { Config } from '../config/config.js';
import type { Sample } from './history.js';

/** Where requests' client addresses have come from of late. */
export interface ClientReport {
  /** The declared source, in the configuration's words; null where none is declared and connections count. */
  readonly declaredSource: string | null;
  /** Requests within the window whose address was read from where it is declared. */
  readonly declared: number;
  /** Those whose declared source was missing or malformed, so that their connection counted. */
  readonly fallback: number;
}

/** How addresses were read, from samples in their order, of which the last is of this moment. */
export function clientReport(
  { clientIpHeader, trustedProxyDepth }: Pick<Config, 'clientIpHeader' | 'trustedProxyDepth'>,
  samples: readonly Sample[],
): ClientReport {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) throw new Error('There is no sample.');
  const since = (source: keyof Sample['clientIp']) => last.clientIp[source] - first.clientIp[source];
  const forwarded = trustedProxyDepth > 0 ? `X-Forwarded-For, ${trustedProxyDepth} from the right` : null;
  return {
    declaredSource: clientIpHeader ?? forwarded,
    declared: since('header') + since('forwarded') + since('socket'),
    fallback: since('fallback'),
  };
}
