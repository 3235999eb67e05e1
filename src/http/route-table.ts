interface Route {
  readonly segments: readonly string[];
  readonly methods: Set<string>;
}

/** Which methods a path has, for the `Allow` of a 405 (RFC 9110); the router itself only knows whether one matches. */
export class RouteTable {
  private readonly routes = new Map<string, Route>();

  /** Notes a route as the router has it: `:name` stands for one segment, a last `*` for the rest. */
  add(method: string, pattern: string): void {
    const known = this.routes.get(pattern);
    if (known === undefined) this.routes.set(pattern, { segments: pattern.split('/'), methods: new Set([method]) });
    else known.methods.add(method);
  }

  /** The methods under which the path's text is served, sorted; empty: the path is unknown. */
  methodsOf(path: string): string[] {
    const segments = path.split('/');
    const methods = new Set<string>();
    for (const route of this.routes.values()) {
      if (matches(route.segments, segments)) for (const method of route.methods) methods.add(method);
    }
    return [...methods].sort();
  }
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  const open = pattern.at(-1) === '*';
  if (open ? path.length < pattern.length : path.length !== pattern.length) return false;
  const fixed = open ? pattern.slice(0, -1) : pattern;
  return fixed.every((segment, i) => (segment.startsWith(':') ? path[i] !== '' : segment === path[i]));
}
