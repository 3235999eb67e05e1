import type { RouteMark } from '../request/route.decorator.js';
import { ANSWER_HEADERS, isDocs, isPage, PAGE_HEADERS } from './pages.js';

/** What is known of a route once it is registered, so that no request asks for it again. */
export interface HttpRoute {
  readonly mark: RouteMark;
  /** The headers of its answers. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it is Swagger UI's, whose library would serve more than its page needs. */
  readonly isDocs: boolean;
  /** Whether its pattern has parameters. */
  readonly hasParameters: boolean;
}

/** What a request has that matched no route. */
export const NO_ROUTE: HttpRoute = { mark: {}, headers: ANSWER_HEADERS, isDocs: false, hasParameters: false };

/** A route by its pattern and by the mark that its handler has; Swagger UI registers its own and can't mark them. */
export function httpRoute(pattern: string, mark: RouteMark = {}): HttpRoute {
  const docs = isDocs(pattern);
  return {
    mark: docs ? { free: true } : mark,
    headers: isPage(pattern) ? PAGE_HEADERS : ANSWER_HEADERS,
    isDocs: docs,
    hasParameters: /[:*]/.test(pattern),
  };
}
