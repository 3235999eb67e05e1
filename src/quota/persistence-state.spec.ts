import { describe, expect, it } from 'vitest';
import { PersistenceState } from './persistence-state.js';

describe('quota persistence', () => {
  it('is degraded from the first failure until one flush and one read have succeeded', () => {
    const state = new PersistenceState();
    expect(state.isDegraded).toBe(false);
    expect(state.failed(1_000)).toBe(true);
    expect(state.failed(2_000)).toBe(false);
    expect(state.succeeded('flush', 3_000)).toBeUndefined();
    expect(state.isDegraded).toBe(true);
    expect(state.succeeded('read', 4_000)).toBe(3_000);
    expect(state.isDegraded).toBe(false);
  });

  it('does not recover by a flush before and a read after another failure', () => {
    const state = new PersistenceState();
    state.failed(0);
    state.succeeded('flush', 1);
    state.failed(2);
    expect(state.succeeded('read', 3)).toBeUndefined();
    expect(state.succeeded('read', 4)).toBeUndefined();
    expect(state.succeeded('flush', 5)).toBe(5);
  });

  it('has the database connected as long as the last connect, flush or read succeeded', () => {
    const state = new PersistenceState();
    expect(state.isReached).toBe(false);
    state.connected();
    expect(state.isReached).toBe(true);
    state.failed(1);
    expect(state.isReached).toBe(false);
    state.succeeded('read', 2);
    expect([state.isReached, state.isDegraded]).toEqual([true, true]);
    state.failed(3);
    state.succeeded('flush', 4);
    expect(state.isReached).toBe(true);
  });

  it('says nothing of an end where nothing had begun', () => {
    const state = new PersistenceState();
    expect(state.succeeded('flush', 1)).toBeUndefined();
    expect(state.succeeded('read', 2)).toBeUndefined();
  });
});
