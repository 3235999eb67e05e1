import { Inject, Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { CLOCK, type Clock } from '../clock/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import type { Limit, Refusal, RequestContext } from '../request/request-context.js';
import { BucketStore } from './bucket-store.js';
import { LimitsService } from './limits.service.js';
import { bucketRate, retryAfterSeconds } from './token-bucket.js';

/** What the library's guard reads from its storage. */
type HitRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/**
 * `@nestjs/throttler`'s storage, on our token buckets: the four layers for our own guards, and a bounded store for any
 * stock throttle, whose own storage keeps a timer for each hit and never shrinks.
 */
@Injectable()
export class LayerStorageService implements ThrottlerStorage {
  private readonly stores = new Map<string, BucketStore>();

  constructor(
    private readonly limits: LimitsService,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Asks and charges one of the four layers. */
  pass(limit: Limit, context: RequestContext): Refusal | undefined {
    return this.limits.admission.pass(limit, context);
  }

  /** Takes a token of a bucket with `limit` tokens that come back in `ttl` milliseconds; times are in seconds. */
  async increment(key: string, ttl: number, limit: number, _block: number, throttlerName: string): Promise<HitRecord> {
    const nowMs = this.clock.monotonicMs();
    const store = this.storeFor(throttlerName, ttl, limit);
    const wait = store.has(key) || store.hasRoom(nowMs) ? store.wait(key, nowMs) : store.firstRefillMs(nowMs);
    if (wait > 0) {
      const seconds = retryAfterSeconds(wait);
      return { totalHits: limit + 1, timeToExpire: seconds, isBlocked: true, timeToBlockExpire: seconds };
    }
    const fullInMs = store.take(key, nowMs) - nowMs;
    const totalHits = Math.ceil((fullInMs * limit) / ttl);
    return { totalHits, timeToExpire: Math.ceil(fullInMs / 1000), isBlocked: false, timeToBlockExpire: 0 };
  }

  private storeFor(throttlerName: string, ttl: number, limit: number): BucketStore {
    const name = `${throttlerName}\n${ttl}\n${limit}`;
    let store = this.stores.get(name);
    if (store === undefined) {
      store = new BucketStore(bucketRate((limit * 1000) / ttl, limit), this.config.preauthMaxKeys);
      this.stores.set(name, store);
    }
    return store;
  }
}
