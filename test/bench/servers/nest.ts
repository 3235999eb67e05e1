// Nest on Fastify with nothing around: GUARD=none, or a stock guard in front (throttler, rate-limiter-flexible).
import 'reflect-metadata';
import {
  applyDecorators,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  HttpException,
  Injectable,
  Module,
  type Provider,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { BODY, HEADERS, LAYERS, LIMIT, PORT, REFUSES, WINDOW_MS } from './environment.js';

const report = REFUSES ? {} : (JSON.parse(BODY) as object);

@Controller('v1')
class CapabilitiesController {
  @Get('capabilities')
  @applyDecorators(...Object.entries(HEADERS).map(([name, value]) => Header(name, value)))
  capabilities(): object {
    return report;
  }

  @Get('body')
  @Header('Cache-Control', 'no-store')
  body(): object {
    return report;
  }

  @Get('prebuilt')
  @Header('Cache-Control', 'no-store')
  @Header('Content-Type', 'application/json; charset=utf-8')
  prebuilt(): string {
    return BODY;
  }
}

/** Four checks of rate-limiter-flexible, as its page on Nest has it. */
@Injectable()
class FlexibleGuard implements CanActivate {
  private readonly limiters = LAYERS.map(
    (keyPrefix) => new RateLimiterMemory({ keyPrefix, points: LIMIT, duration: WINDOW_MS / 1000 }),
  );

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { ip } = context.switchToHttp().getRequest<{ ip: string }>();
    try {
      for (const limiter of this.limiters) await limiter.consume(ip);
    } catch {
      throw new HttpException('Too many requests', 429);
    }
    return true;
  }
}

const guards: Record<string, Provider[]> = {
  none: [],
  throttler: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
  flexible: [{ provide: APP_GUARD, useClass: FlexibleGuard }],
};
/** Its storage keeps every hit of the window: with a long one, hits that no limit ends would be all that is measured. */
const ttl = REFUSES ? WINDOW_MS : 5;
const throttlers = LAYERS.map((name) => ({ name, limit: LIMIT, ttl }));

@Module({
  imports: process.env['GUARD'] === 'throttler' ? [ThrottlerModule.forRoot({ throttlers })] : [],
  controllers: [CapabilitiesController],
  providers: guards[process.env['GUARD'] ?? 'none'] ?? [],
})
class AppModule {}

const adapter = new FastifyAdapter();
const app = await NestFactory.create<NestFastifyApplication>(AppModule, adapter, { logger: false });
await app.listen({ port: PORT, host: '127.0.0.1' });
