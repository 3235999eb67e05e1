import { type DynamicModule, Global, Module } from '@nestjs/common';
import { CLOCK, type Clock } from './clock.js';

/** The machine's own clocks. */
export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  utcMs: () => Date.now(),
};

/** Hands one {@link Clock} to the whole application; tests bring their own. */
@Global()
@Module({})
export class ClockModule {
  static forRoot(clock: Clock = systemClock): DynamicModule {
    return { module: ClockModule, providers: [{ provide: CLOCK, useValue: clock }], exports: [CLOCK] };
  }
}
