import { describe, expect, it } from 'vitest';
import type { Credential } from '../request/credential.js';
import { runExchange, type Exchanged, type HttpAnswer, type HttpFailure, type NonceKeeper } from './exchange.js';

const KEY: Credential = { kind: 'api-key', publicKey: 'pub', privateKey: 'priv' };
const TOKEN: Credential = { kind: 'oauth', token: 'token' };

function challenge(nonce: string, stale = ''): HttpAnswer {
  const value = `Digest realm="r", qop="auth", nonce="${nonce}"${stale}`;
  return { status: 401, headers: { 'www-authenticate': value }, body: undefined };
}

function answer(status: number, headers: HttpAnswer['headers'] = {}): HttpAnswer {
  return { status, headers, body: undefined };
}

/** Runs one exchange against scripted answers; what was sent is told as `none`, or nonce and count. */
async function run(
  script: (HttpAnswer | HttpFailure)[],
  { credential = KEY, keeper = { nonce: undefined } }: { credential?: Credential; keeper?: NonceKeeper } = {},
): Promise<{ exchanged: Exchanged; sent: string[]; keeper: NonceKeeper }> {
  const sent: string[] = [];
  const exchanged = await runExchange({
    credential,
    keeper,
    request: { method: 'GET', uri: '/' },
    newCnonce: () => 'c',
    send: (authorization) => {
      const match = /nonce="([^"]*)".*nc=0*(\d+)/.exec(authorization ?? '');
      sent.push(authorization === undefined ? 'none' : match === null ? authorization : `${match[1]}/${match[2]}`);
      const next = script.shift();
      if (next === undefined) throw new Error('The script is over.');
      return Promise.resolve(next);
    },
  });
  return { exchanged, sent, keeper };
}

async function keptNonce(): Promise<NonceKeeper> {
  const { exchanged } = await run([challenge('old'), answer(200)]);
  return { nonce: exchanged.kind === 'answered' ? exchanged.nonce : undefined };
}

describe('One exchange with Digest', () => {
  it('asks for a challenge without a credential and signs against it', async () => {
    const { exchanged, sent } = await run([challenge('a'), answer(200)]);
    expect(sent).toEqual(['none', 'a/1']);
    expect(exchanged).toMatchObject({ kind: 'answered', proof: 'fresh' });
  });

  it('takes a 401 without stale=true to its own nonce for a rejection', async () => {
    const { exchanged, sent } = await run([challenge('a'), challenge('b')]);
    expect(sent).toEqual(['none', 'a/1']);
    expect(exchanged).toEqual({ kind: 'rejected' });
  });

  it('takes a 401 without any challenge to its own nonce for a rejection too', async () => {
    expect((await run([challenge('a'), answer(401)])).exchanged).toEqual({ kind: 'rejected' });
  });

  it('signs once more after stale=true', async () => {
    const { exchanged, sent } = await run([challenge('a'), challenge('b', ', stale=true'), answer(200)]);
    expect(sent).toEqual(['none', 'a/1', 'b/1']);
    expect(exchanged).toMatchObject({ kind: 'answered', proof: 'fresh' });
  });

  it('takes a plain 401 after stale=true for a rejection', async () => {
    const { exchanged } = await run([challenge('a'), challenge('b', ', stale=true'), challenge('c')]);
    expect(exchanged).toEqual({ kind: 'rejected' });
  });

  it('takes a second stale=true for neither yes nor no, and sends no fourth request', async () => {
    const { exchanged, sent } = await run([
      challenge('a'),
      challenge('b', ', stale=true'),
      challenge('c', ', stale=true'),
    ]);
    expect(sent).toHaveLength(3);
    expect(exchanged).toEqual({ kind: 'unanswerable' });
  });

  it('sends one request under a kept nonce, with the next count', async () => {
    const keeper = await keptNonce();
    expect((await run([answer(200)], { keeper })).sent).toEqual(['old/2']);
    expect((await run([answer(200)], { keeper })).sent).toEqual(['old/3']);
  });

  it('takes a 401 to a kept nonce for a challenge, stale or not', async () => {
    for (const stale of ['', ', stale=true']) {
      const keeper = await keptNonce();
      const { exchanged, sent } = await run([challenge('new', stale), answer(200)], { keeper });
      expect(sent).toEqual(['old/2', 'new/1']);
      expect(exchanged).toMatchObject({ kind: 'answered', proof: 'fresh' });
    }
  });

  it('rejects after a kept nonce only by a 401 to a nonce of this exchange', async () => {
    const { exchanged } = await run([challenge('new'), challenge('newer')], { keeper: await keptNonce() });
    expect(exchanged).toEqual({ kind: 'rejected' });
  });

  it('says by which nonce an answer was earned', async () => {
    expect((await run([answer(403)], { keeper: await keptNonce() })).exchanged).toMatchObject({ proof: 'kept' });
    expect((await run([answer(403)])).exchanged).toMatchObject({ proof: 'none' });
  });

  it.each([
    ['no challenge', answer(401)],
    ['Basic alone', answer(401, { 'www-authenticate': 'Basic realm="r"' })],
    ['an algorithm it does not speak', answer(401, { 'www-authenticate': 'Digest realm="r", nonce="n", algorithm=X' })],
  ])('can do nothing with a first 401 that holds %s, and never sends a password', async (_title, first) => {
    const { exchanged, sent } = await run([first]);
    expect(exchanged).toEqual({ kind: 'unanswerable' });
    expect(sent).toEqual(['none']);
  });

  it('drops a kept nonce that was answered 401', async () => {
    const keeper = await keptNonce();
    await run([answer(401)], { keeper });
    expect(keeper.nonce).toBeUndefined();
  });

  it('leaves the nonce alone that another exchange has put there meanwhile', async () => {
    const keeper = await keptNonce();
    const other = (await keptNonce()).nonce;
    await runExchange({
      credential: KEY,
      keeper,
      request: { method: 'GET', uri: '/' },
      newCnonce: () => 'c',
      send: () => {
        keeper.nonce = other;
        return Promise.resolve(answer(401));
      },
    });
    expect(keeper.nonce).toBe(other);
  });

  it('ends with the first failure, without another try', async () => {
    const failure: HttpFailure = { failed: 'connection', written: true };
    const { exchanged, sent } = await run([challenge('a'), failure]);
    expect(sent).toHaveLength(2);
    expect(exchanged).toEqual({ kind: 'failed', failure, proof: 'fresh' });
  });
});

describe('One exchange with a bearer token', () => {
  it('sends one request', async () => {
    const { exchanged, sent } = await run([answer(200)], { credential: TOKEN });
    expect(sent).toEqual(['Bearer token']);
    expect(exchanged).toMatchObject({ kind: 'answered', proof: 'bearer' });
  });

  it('takes a 401 for a rejection, whatever it says', async () => {
    const { exchanged, sent } = await run([challenge('a', ', stale=true')], { credential: TOKEN });
    expect(sent).toHaveLength(1);
    expect(exchanged).toEqual({ kind: 'rejected' });
  });
});
