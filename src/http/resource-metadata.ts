import type { Config } from '../config/config.js';
import type { Surface } from '../errors/error-body.js';

/** Where metadata of protected resources stand (RFC 9728, section 3); a resource's own path follows. */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

const BASIC = 'Basic realm="tidb-cloud-mcp", charset="UTF-8"';
const BEARER = 'Bearer realm="tidb-cloud-mcp"';
const MCP = '/mcp';

/**
 * What OAuth clients are told: which authorization server gives tokens for this server, in documents written once, and
 * where these are, in the challenge of a 401. Nothing of it without a configured issuer. RFC 9728; decision 0020.
 */
export class ResourceMetadata {
  private readonly documents = new Map<string, Buffer>();
  private readonly pointing: Readonly<Partial<Record<Surface, readonly string[]>>> = {};

  constructor({ oauthIssuer, publicUrl }: Pick<Config, 'oauthIssuer' | 'publicUrl'>) {
    if (oauthIssuer === undefined || publicUrl === undefined) return;
    for (const path of ['', MCP]) {
      const metadata = {
        resource: publicUrl + path,
        authorization_servers: [oauthIssuer],
        bearer_methods_supported: ['header'],
        resource_name: 'tidb-cloud-mcp',
      };
      this.documents.set(RESOURCE_METADATA_PATH + path, Buffer.from(JSON.stringify(metadata)));
    }
    // Bearer first: there are clients that look no further than the first challenge.
    const challenges = (path: string) => [
      `${BEARER}, resource_metadata="${publicUrl}${RESOURCE_METADATA_PATH}${path}"`,
      BASIC,
    ];
    this.pointing = { mcp: challenges(MCP), v1: challenges('') };
  }

  /** The document at this path. */
  document(path: string): Buffer | undefined {
    return this.documents.get(path);
  }

  /**
   * The `WWW-Authenticate` fields of a 401; only a surface's point to the metadata, the operator's token is no OAuth's.
   */
  challenges(surface: Surface): string[] {
    return [...(this.pointing[surface] ?? [BASIC, BEARER])];
  }
}
