import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AnswerService } from './answer.service.js';

/** Hands whatever was thrown on the way of a request to the one place that answers failures. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly answers: AnswerService) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answers.fail(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }
}
