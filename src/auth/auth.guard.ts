import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requestContext } from '../request/request-context.js';
import { AuthService } from './auth.service.js';

/** Step 5 of the admission: only a call needs a credential, and only after the four layers. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(private readonly auth: AuthService) {}

  canActivate(execution: ExecutionContext): boolean | Promise<boolean> {
    const { raw } = execution.getArgByIndex<FastifyRequest>(0);
    const context = requestContext(raw);
    if (context.call !== true) return true;
    const tenant = this.auth.authenticate(context);
    return tenant instanceof Promise ? tenant.then(() => true) : true;
  }
}
