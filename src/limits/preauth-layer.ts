import { hash } from 'node:crypto';
import type { ClientAddress } from '../request/request-context.js';
import { BucketStore } from './bucket-store.js';
import { afterGivingBack, afterTaking, type BucketRate, waitMs } from './token-bucket.js';

/** Buckets shared by new addresses when no place is left. Contract: `TIDB_MCP_PREAUTH_MAX_KEYS`. */
const OVERFLOW_BUCKETS = 256;

/** The budgets of callers that have not proven a credential. */
export interface PreauthOptions {
  readonly address: BucketRate;
  /** The larger proving budget, of each listed address by itself. */
  readonly gateway: BucketRate;
  /** Ceiling of the addresses' map, and of the gateways'. */
  readonly maxKeys: number;
  /** Keys the choice of an overflow bucket, so that no caller can aim at a victim's. */
  readonly secret: string;
}

/**
 * Layer 1: what an unproven caller may consume, by client address. Spec: "The four layers" and "Where the client address
 * comes from". Past the ceiling a new address shares an overflow bucket, a gateway its listed block's; a bucket that has
 * not refilled is never dropped for a newcomer.
 */
export class PreauthLayer {
  private readonly addresses: BucketStore;
  private readonly gateways: BucketStore;
  /** Times of the overflow buckets: by number for addresses, by block for gateways (as many as are listed). */
  private readonly overflow = new Float64Array(OVERFLOW_BUCKETS);
  private readonly blocks = new Map<string, number>();

  constructor(private readonly options: PreauthOptions) {
    this.addresses = new BucketStore(options.address, options.maxKeys);
    this.gateways = new BucketStore(options.gateway, options.maxKeys);
  }

  /** Milliseconds until this client's bucket has a token; 0 when it has one. */
  wait(client: ClientAddress, nowMs: number): number {
    const store = this.storeOf(client);
    if (this.hasOwn(store, client, nowMs)) return store.wait(client.key, nowMs);
    return waitMs(this.sharedFullAt(client), nowMs, this.rateOf(client));
  }

  /** Takes a token; answers the bucket's new time, for {@link giveBack}. Ask {@link wait} first. */
  take(client: ClientAddress, nowMs: number): number {
    const store = this.storeOf(client);
    if (this.hasOwn(store, client, nowMs)) return store.take(client.key, nowMs);
    const fullAt = afterTaking(this.sharedFullAt(client), nowMs, this.rateOf(client));
    this.setShared(client, fullAt);
    return fullAt;
  }

  /** Gives the token back that {@link take} took in this same moment. */
  giveBack(client: ClientAddress, takenFullAtMs: number, nowMs: number): void {
    const store = this.storeOf(client);
    if (store.has(client.key)) store.giveBack(client.key, takenFullAtMs, nowMs);
    else this.setShared(client, afterGivingBack(this.sharedFullAt(client), takenFullAtMs, nowMs, this.rateOf(client)));
  }

  /** Whether this client has no bucket of its own, since the map is full of buckets that have not refilled. */
  overflows(client: ClientAddress, nowMs: number): boolean {
    return !this.hasOwn(this.storeOf(client), client, nowMs);
  }

  /** Buckets that hold something back now, overflow buckets included. */
  count(nowMs: number): number {
    this.addresses.prune(nowMs);
    this.gateways.prune(nowMs);
    const shared = [...this.overflow, ...this.blocks.values()].filter((fullAt) => fullAt > nowMs).length;
    return this.addresses.size + this.gateways.size + shared;
  }

  private storeOf(client: ClientAddress): BucketStore {
    return client.gateway === undefined ? this.addresses : this.gateways;
  }

  private rateOf(client: ClientAddress): BucketRate {
    return client.gateway === undefined ? this.options.address : this.options.gateway;
  }

  private hasOwn(store: BucketStore, client: ClientAddress, nowMs: number): boolean {
    return store.has(client.key) || store.hasRoom(nowMs);
  }

  private sharedFullAt(client: ClientAddress): number {
    if (client.gateway !== undefined) return this.blocks.get(client.gateway) ?? 0;
    return this.overflow[this.overflowBucket(client.network)]!;
  }

  private setShared(client: ClientAddress, fullAtMs: number): void {
    if (client.gateway !== undefined) this.blocks.set(client.gateway, fullAtMs);
    else this.overflow[this.overflowBucket(client.network)] = fullAtMs;
  }

  private overflowBucket(network: string): number {
    return Number.parseInt(hash('sha256', `${this.options.secret}\n${network}`, 'hex').slice(0, 2), 16);
  }
}
