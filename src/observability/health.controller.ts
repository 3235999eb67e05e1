import { Controller, Get, HttpException, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  HealthCheck,
  type HealthCheckResult,
  HealthCheckService,
  HealthIndicatorService,
  type HealthIndicatorResult,
} from '@nestjs/terminus';
import { Free } from '../request/route.decorator.js';
import { HealthRegistry, type HealthState } from './health-registry.service.js';

/** The one thing of the framework's answer that readiness sets. */
interface Reply {
  status(code: number): unknown;
}

/** Probes of the process and of its readiness, outside the limits and cheap. Contract: "Surfaces". */
@ApiTags('health')
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly registry: HealthRegistry,
  ) {}

  /** 200 as long as the process answers at all. */
  @Get('live')
  @Free()
  @ApiOperation({ summary: 'Whether the process is alive' })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /**
   * 200 while requests are welcome, also with an impaired part (`degraded: true` in its details); 503 from SIGTERM on.
   */
  @Get('ready')
  @Free()
  @HealthCheck()
  @ApiOperation({ summary: 'Whether this instance wants requests' })
  async ready(@Res({ passthrough: true }) reply: Reply): Promise<HealthCheckResult> {
    const parts = [...this.registry.states()].map(
      ([name, state]) =>
        () =>
          this.#part(name, state),
    );
    try {
      return await this.health.check([() => this.#server(), ...parts]);
    } catch (error) {
      // A probe reads this body: it is an answer of its own, not an error in the shape of a surface.
      if (!(error instanceof HttpException)) throw error;
      reply.status(error.getStatus());
      return error.getResponse() as HealthCheckResult;
    }
  }

  #server(): HealthIndicatorResult {
    const indicator = this.indicators.check('server');
    return this.registry.shuttingDown ? indicator.down({ shuttingDown: true }) : indicator.up();
  }

  #part(name: string, state: HealthState): HealthIndicatorResult {
    const { degraded, status: _reserved, ...details } = state;
    const indicator = this.indicators.check(name);
    return degraded ? indicator.degraded({ degraded, ...details }) : indicator.up({ degraded, ...details });
  }
}
