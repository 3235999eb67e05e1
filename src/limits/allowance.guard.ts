import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requestContext } from '../request/request-context.js';
import { LimitsService } from './limits.service.js';
import { rateLimitFields } from './rate-limit-fields.js';

/** Lets everybody through and tells an authenticated caller, before a refusal ever comes, what it has left. */
@Injectable()
export class AllowanceGuard implements CanActivate {
  constructor(private readonly limits: LimitsService) {}

  canActivate(execution: ExecutionContext): boolean {
    const { raw } = execution.getArgByIndex<FastifyRequest>(0);
    const { identity, tenant, answerHeaders } = requestContext(raw);
    if (identity !== undefined && tenant !== undefined) {
      answerHeaders.push(...rateLimitFields(this.limits.allowance(identity)));
    }
    return true;
  }
}
