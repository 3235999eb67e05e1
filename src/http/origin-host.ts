/** What the `Origin` and `Host` checks know of the configuration. Contract: `TIDB_MCP_ALLOWED_ORIGINS`, `_HOSTS`. */
export interface OriginHostOptions {
  readonly allowedOrigins: readonly string[];
  /** Names, or names with a port; `*` takes any. */
  readonly allowedHosts: readonly string[];
}

/** How a request's `Origin` is to be taken. */
export type OriginVerdict = 'none' | 'allowed' | 'own' | 'forbidden';

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

interface HostParts {
  readonly name: string;
  readonly port: string | undefined;
}

/**
 * The checks that keep a browser from being used against a server (DNS rebinding, foreign pages); constant time and no
 * state. MCP Streamable HTTP, "Security"; contract: "Admission, in order", step 0.
 */
export class OriginHostCheck {
  private readonly origins: ReadonlySet<string>;
  private readonly hosts: ReadonlySet<string>;
  private readonly anyHost: boolean;
  /** The header that was allowed last: nearly every request brings the same. */
  private lastAllowed: string | undefined = undefined;

  constructor(options: OriginHostOptions) {
    this.origins = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase()));
    this.hosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
    this.anyHost = this.hosts.has('*');
  }

  /** Whether requests to this `Host` are served: compared without the port unless the entry has one. */
  isHostAllowed(header: string | undefined): boolean {
    if (this.anyHost) return true;
    if (header === undefined) return false;
    if (header === this.lastAllowed) return true;
    const allowed = this.isListed(header);
    if (allowed) this.lastAllowed = header;
    return allowed;
  }

  /** Whether a request from a page of this `Origin` is served; `own`: a page of this very server. */
  judgeOrigin(origin: string | undefined, hostHeader: string | undefined): OriginVerdict {
    if (origin === undefined) return 'none';
    if (this.origins.has(origin.toLowerCase())) return 'allowed';
    return this.isOwn(origin, hostHeader) ? 'own' : 'forbidden';
  }

  private isListed(header: string): boolean {
    const host = splitHost(header);
    if (host === undefined) return false;
    return this.hosts.has(host.name) || (host.port !== undefined && this.hosts.has(`${host.name}:${host.port}`));
  }

  private isOwn(origin: string, hostHeader: string | undefined): boolean {
    const host = hostHeader === undefined ? undefined : splitHost(hostHeader);
    const [, scheme, authority] = /^(https?):\/\/([^/?#@\\]+)$/i.exec(origin) ?? [];
    const page = authority === undefined ? undefined : splitHost(authority);
    if (host === undefined || page === undefined || page.name !== host.name) return false;
    const usual = scheme?.toLowerCase() === 'https' ? '443' : '80';
    if ((page.port ?? usual) !== (host.port ?? usual)) return false;
    const listed = this.hosts.has(host.name) || this.hosts.has(`${host.name}:${host.port ?? usual}`);
    return listed || LOOPBACK_NAMES.has(host.name);
  }
}

function splitHost(header: string): HostParts | undefined {
  const [, name, port] = /^(\[[0-9a-f:.]+\]|[^:[\]/\\@?#\s]+)(?::(\d{1,5}))?$/i.exec(header) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase().replace(/\.$/, ''), port };
}
