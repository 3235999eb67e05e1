import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Identity, IdentityKind } from '../request/credential.js';
import type { Outcome } from '../tidb-cloud/outcome.js';
import { listProjects } from '../tidb-cloud/endpoints.js';
import type { TidbCloudService } from '../tidb-cloud/tidb-cloud.service.js';
import { OperationUpstream } from './operation-upstream.service.js';
import type { Caller } from './operation.js';

function callerOf(kind: IdentityKind): Caller {
  const credential = { kind: 'api-key', publicKey: 'pub', privateKey: 'private' } as const;
  const identity = { kind, fingerprint: 'f'.repeat(64), tenant: 'f'.repeat(64), credential };
  return { tenant: { identity, session: { credential } }, surface: 'v1', signal: new AbortController().signal };
}

describe('A rejection by TiDB Cloud in the middle of an operation', () => {
  let nowMs = 0;
  let forgotten: Identity[];
  let upstream: OperationUpstream;
  const logged = vi.spyOn(Logger.prototype, 'error');

  beforeEach(() => {
    nowMs = 0;
    forgotten = [];
    logged.mockReset().mockReturnValue(undefined);
    const answer: Outcome<unknown> = { kind: 'rejected' };
    upstream = new OperationUpstream(
      { request: () => Promise.resolve(answer) } as unknown as TidbCloudService,
      { monotonicMs: () => nowMs, utcMs: () => 0 },
      { forgetRejected: (identity) => forgotten.push(identity) },
    );
  });
  afterEach(() => void logged.mockReset());

  const ask = (kind: IdentityKind) => upstream.ask(callerOf(kind), listProjects({}), z.object({}));

  it('forgets the caller’s own credential', async () => {
    await expect(ask('oauth')).rejects.toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
    expect(forgotten.map(({ kind }) => kind)).toEqual(['oauth']);
    expect(logged).not.toHaveBeenCalled();
  });

  it('of the server’s own key forgets nobody and is logged once a minute', async () => {
    const times = [0, 1, 59_999, 60_000, 60_001, 200_000];
    for (const time of times) {
      nowMs = time;
      await expect(ask('shared')).rejects.toMatchObject({ code: 'SERVER_KEY_REJECTED', status: 502 });
    }
    expect(forgotten).toEqual([]);
    expect(logged).toHaveBeenCalledTimes(3);
  });
});
