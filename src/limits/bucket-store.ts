import type { Bookmarks } from '../request/bookmarks.js';
import { afterGivingBack, afterTaking, type BucketRate, waitMs } from './token-bucket.js';

const INITIAL_SLOTS = 1024;
/** Refilled buckets that go with each new key, so that the store shrinks again after a flood. */
const DROPS_PER_INSERT = 2;

/**
 * Token buckets by key, at most `maxKeys` of them, of one rate unless a caller names another for its own. A bucket that
 * has refilled says nothing any more and is dropped; a bucket that has not is never dropped, since that would hand its
 * caller a full one.
 *
 * Slots are columns of typed arrays; a heap over the slots finds the one that refills first. Taking a token only moves
 * a bucket's time up, so the heap's own times may lag behind and are brought up to date when a slot comes to the top.
 */
export class BucketStore {
  private readonly slots = new Map<string, number>();
  private readonly free: number[] = [];
  private keys: string[] = [];
  private fullAt: Float64Array;
  /** The time by which a slot is ordered in the heap: never later than its `fullAt`. */
  private orderedBy: Float64Array;
  private heap: Uint32Array;
  private place: Uint32Array;

  /** @param dropsPerInsert refilled buckets that go with each new key; they go at the ceiling in any case */
  constructor(
    private readonly rate: BucketRate,
    private readonly maxKeys: number,
    private readonly dropsPerInsert = DROPS_PER_INSERT,
  ) {
    const size = Math.min(INITIAL_SLOTS, maxKeys);
    this.fullAt = new Float64Array(size);
    this.orderedBy = new Float64Array(size);
    this.heap = new Uint32Array(size);
    this.place = new Uint32Array(size);
  }

  /** Buckets held now. */
  get size(): number {
    return this.slots.size;
  }

  has(key: string): boolean {
    return this.slots.has(key);
  }

  /** Milliseconds until the key's bucket has a token; 0 when it has one now, as an unknown key's has. */
  wait(key: string, nowMs: number, rate = this.rate, bookmarks?: Bookmarks): number {
    const slot = this.slotOf(key, bookmarks);
    return slot === undefined ? 0 : waitMs(this.fullAt[slot]!, nowMs, rate);
  }

  /** The moment the key's bucket is full again; undefined when the store doesn't hold it. */
  fullAtMs(key: string, bookmarks?: Bookmarks): number | undefined {
    const slot = this.slotOf(key, bookmarks);
    return slot === undefined ? undefined : this.fullAt[slot]!;
  }

  /** Whether a new key finds a place, dropping a refilled bucket for it where need be. */
  hasRoom(nowMs: number): boolean {
    return this.slots.size < this.maxKeys || this.dropFirstRefilled(nowMs);
  }

  /** Takes a token of the key's bucket; answers its new time, for {@link giveBack}. Ask {@link wait} first. */
  take(key: string, nowMs: number, rate = this.rate, bookmarks?: Bookmarks): number {
    const slot = this.slotOf(key, bookmarks);
    if (slot === undefined) return this.insert(key, afterTaking(nowMs, nowMs, rate), nowMs);
    return (this.fullAt[slot] = afterTaking(this.fullAt[slot]!, nowMs, rate));
  }

  /** Gives a token back, exactly and never above the burst. */
  giveBack(key: string, takenFullAtMs: number, nowMs: number, rate = this.rate): void {
    const slot = this.slots.get(key);
    if (slot === undefined) return;
    const fullAt = afterGivingBack(this.fullAt[slot]!, takenFullAtMs, nowMs, rate);
    this.fullAt[slot] = fullAt;
    if (fullAt <= nowMs) this.remove(slot);
    else if (fullAt < this.orderedBy[slot]!) {
      this.orderedBy[slot] = fullAt;
      this.siftUp(this.place[slot]!);
    }
  }

  /** Holds a bucket at a time that it has elsewhere. The caller has asked {@link hasRoom}. */
  insert(key: string, fullAtMs: number, nowMs: number): number {
    for (let i = 0; i < this.dropsPerInsert && this.dropFirstRefilled(nowMs); i += 1);
    if (!this.hasRoom(nowMs)) throw new RangeError('A bucket store was filled beyond its ceiling.');
    const slot = this.free.pop() ?? this.slots.size;
    if (slot >= this.fullAt.length) this.grow();
    const at = this.slots.size;
    this.slots.set(key, slot);
    this.keys[slot] = key;
    this.fullAt[slot] = this.orderedBy[slot] = fullAtMs;
    this.heap[at] = slot;
    this.place[slot] = at;
    this.siftUp(at);
    return fullAtMs;
  }

  /** Takes a bucket out, refilled or not; answers its time, or undefined when it isn't held. */
  delete(key: string): number | undefined {
    const slot = this.slots.get(key);
    if (slot === undefined) return undefined;
    const fullAt = this.fullAt[slot]!;
    this.remove(slot);
    return fullAt;
  }

  /** Milliseconds until the first bucket has refilled; 0 when one has or when there is none. */
  firstRefillMs(nowMs: number): number {
    if (this.slots.size === 0) return 0;
    return Math.max(0, this.fullAt[this.first()]! - nowMs);
  }

  /** Buckets that have not refilled; drops none. */
  countUnfilled(nowMs: number): number {
    let count = 0;
    for (let at = 0; at < this.slots.size; at += 1) if (this.fullAt[this.heap[at]!]! > nowMs) count += 1;
    return count;
  }

  /** Drops every refilled bucket, so that {@link size} counts those that matter. */
  prune(nowMs: number): void {
    while (this.dropFirstRefilled(nowMs));
  }

  private slotOf(key: string, bookmarks: Bookmarks | undefined): number | undefined {
    if (bookmarks !== undefined && this.keys[bookmarks.slot] === key) return bookmarks.slot;
    const slot = this.slots.get(key);
    if (bookmarks !== undefined && slot !== undefined) bookmarks.slot = slot;
    return slot;
  }

  private dropFirstRefilled(nowMs: number): boolean {
    if (this.slots.size === 0) return false;
    const slot = this.first();
    if (this.fullAt[slot]! > nowMs) return false;
    this.remove(slot);
    return true;
  }

  /** The slot that refills first: the heap's top, once its order is up to date. */
  private first(): number {
    for (;;) {
      const top = this.heap[0]!;
      if (this.orderedBy[top]! >= this.fullAt[top]!) return top;
      this.orderedBy[top] = this.fullAt[top]!;
      this.siftDown(0);
    }
  }

  private remove(slot: number): void {
    const at = this.place[slot]!;
    const last = this.slots.size - 1;
    this.slots.delete(this.keys[slot]!);
    this.keys[slot] = '';
    this.free.push(slot);
    if (at === last) return;
    this.put(this.heap[last]!, at);
    this.siftUp(at);
    this.siftDown(at);
  }

  private siftUp(from: number): void {
    const slot = this.heap[from]!;
    const time = this.orderedBy[slot]!;
    let at = from;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const above = this.heap[up]!;
      if (this.orderedBy[above]! <= time) break;
      this.put(above, at);
      at = up;
    }
    this.put(slot, at);
  }

  private siftDown(from: number): void {
    const slot = this.heap[from]!;
    const time = this.orderedBy[slot]!;
    const size = this.slots.size;
    let at = from;
    for (let down = 2 * at + 1; down < size; down = 2 * at + 1) {
      if (down + 1 < size && this.orderedBy[this.heap[down + 1]!]! < this.orderedBy[this.heap[down]!]!) down += 1;
      const below = this.heap[down]!;
      if (this.orderedBy[below]! >= time) break;
      this.put(below, at);
      at = down;
    }
    this.put(slot, at);
  }

  private put(slot: number, at: number): void {
    this.heap[at] = slot;
    this.place[slot] = at;
  }

  private grow(): void {
    const size = Math.min(this.maxKeys, this.fullAt.length * 2);
    const copy = <T extends Float64Array | Uint32Array>(from: T, to: T): T => (to.set(from), to);
    this.fullAt = copy(this.fullAt, new Float64Array(size));
    this.orderedBy = copy(this.orderedBy, new Float64Array(size));
    this.heap = copy(this.heap, new Uint32Array(size));
    this.place = copy(this.place, new Uint32Array(size));
  }
}
