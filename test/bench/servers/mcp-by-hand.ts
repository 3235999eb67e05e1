// JSON-RPC written by hand on Nest and Fastify: what `tools/call` would cost if nobody spoke the protocol.
import 'reflect-metadata';
import { Body, Controller, HttpCode, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { BODY, PORT } from './environment.js';

const report = JSON.parse(BODY) as object;

@Controller()
class McpController {
  @Post('mcp')
  @HttpCode(200)
  call(@Body() message: { id: number }): object {
    const content = [{ type: 'text', text: JSON.stringify(report) }];
    return { jsonrpc: '2.0', id: message.id, result: { content, structuredContent: report } };
  }
}

@Module({ controllers: [McpController] })
class AppModule {}

const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), { logger: false });
await app.listen({ port: PORT, host: '127.0.0.1' });
