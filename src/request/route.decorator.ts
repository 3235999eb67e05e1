import { RouteConfig } from '@nestjs/platform-fastify';

/** What a route's mark says; the router hands it to every step as `routeOptions.config`. */
export interface RouteMark {
  /** A call spends the tenant's day and needs a credential. */
  call?: boolean;
  /** Outside the limits: health, metrics, documents, console. */
  free?: boolean;
  /** Free only for who brings the admin token; anybody else pays pre-auth. */
  admin?: boolean;
}

/** Marks a route as a call: it needs a credential and counts for the day's quota. Contract: "Admission, in order". */
export function Call(): MethodDecorator & ClassDecorator {
  return RouteConfig({ call: true } satisfies RouteMark);
}

/** Marks a route as outside the limits; it must be prebuilt or cached. Contract: "Admission, in order". */
export function Free(): MethodDecorator & ClassDecorator {
  return RouteConfig({ free: true } satisfies RouteMark);
}

/** Marks a route as the operator's: outside the limits with the admin token, 401 at the price of pre-auth without. */
export function Admin(): MethodDecorator & ClassDecorator {
  return RouteConfig({ admin: true } satisfies RouteMark);
}
