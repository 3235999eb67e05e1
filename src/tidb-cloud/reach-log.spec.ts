import { beforeEach, describe, expect, it } from 'vitest';
import type { Exchanged } from './exchange.js';
import type { Outcome, UnavailableReason } from './outcome.js';
import { ReachLog } from './reach-log.js';

const unavailable = (reason: UnavailableReason): Outcome<unknown> => ({ kind: 'unavailable', reason, sent: false });
const failed = (code?: string): Exchanged => {
  return { kind: 'failed', failure: { failed: 'connection', written: false, code }, proof: 'none' };
};
const answered = (status: number): Exchanged => {
  return { kind: 'answered', answer: { status, headers: {}, body: undefined }, proof: 'fresh', nonce: undefined };
};

describe('The log about a host of TiDB Cloud', () => {
  let lines: string[];
  let log: ReachLog;
  beforeEach(() => {
    lines = [];
    const keep = (level: string) => (line: string) => void lines.push(`${level} ${line}`);
    log = new ReachLog('api.example:443', { warn: keep('warn'), log: keep('info') });
  });

  it('warns once a minute at the most however much fails, and says once that it works again', () => {
    for (let ms = 0; ms < 120_000; ms += 100) log.note(unavailable('connection'), failed('ECONNREFUSED'), ms);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^warn api\.example:443 gives no answer that counts \(ECONNREFUSED\)/);
    for (let i = 0; i < 3; i += 1) log.note({ kind: 'not-found' }, answered(404), 120_000);
    expect(lines.slice(2)).toEqual(['info api.example:443 answers again.']);
  });

  it('stays at a warning a minute where failures and answers take turns', () => {
    for (let ms = 0; ms < 59_000; ms += 1_000) {
      log.note(unavailable('timeout'), failed(), ms);
      log.note({ kind: 'ok', value: 1 }, answered(200), ms);
    }
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['warn', 'info']);
  });

  it('names the reason: a code, a status, a body that is none, or a challenge that is none', () => {
    log.note(unavailable('connection'), failed('ENOTFOUND'), 0);
    log.note(unavailable('connection'), failed(), 60_000);
    log.note(unavailable('status'), answered(404), 120_000);
    log.note(unavailable('body'), answered(200), 180_000);
    log.note(unavailable('status'), { kind: 'unanswerable' }, 240_000);
    const reasons = lines.map((line) => /\((.*?)\)/.exec(line)?.[1]);
    expect(reasons.slice(0, 4)).toEqual(['ENOTFOUND', 'connection', 'HTTP 404', 'unreadable body']);
    expect(reasons[4]).toContain('HTTP 401');
  });

  it('says nothing of callers who went away, nor of what its own shutdown broke off', () => {
    log.note(unavailable('aborted'), failed(), 0);
    log.note(unavailable('connection'), failed('UND_ERR_DESTROYED'), 0);
    log.note({ kind: 'ok', value: 1 }, answered(200), 0);
    expect(lines).toEqual([]);
  });
});
