import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Call } from '../request/route.decorator.js';
import { ReadBody } from './body.pipe.js';
import { DocumentsMcp } from './documents-mcp.decorator.js';
import { McpHttpAdapter } from './mcp-http.adapter.js';

/** The MCP surface: one stateless endpoint for every revision. Contract: "Surfaces". */
@Controller()
export class McpController {
  constructor(@Inject(McpHttpAdapter) private readonly adapter: McpHttpAdapter) {}

  @Post('mcp')
  @Call()
  @DocumentsMcp()
  serve(@Req() request: FastifyRequest, @Res() reply: FastifyReply, @ReadBody() body: unknown): Promise<void> {
    return this.adapter.serve(request, reply, body);
  }
}
