import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Scrubber } from './scrub.js';

const scrubber = new Scrubber(['configured-secret', 'configured-secret-longer']);

describe('what is written for people', () => {
  it.each([
    ['Authorization: Bearer abc:12345678', '12345678'],
    ['basic cHVibGljOnByaXZhdGU=', 'cHVibGlj'],
    ['Digest username="PUBKEY", response="0a1b2c"', 'PUBKEY'],
    ['token eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2ln', 'eyJhbGci'],
    ['mysql://root:hunter2@db/control', 'hunter2'],
    ['created by jane.doe+x@mail.example.com', 'jane.doe'],
    ['password=hunter2&x=1', 'hunter2'],
    ['{"privateKey":"aaaa-bbbb"}', 'aaaa-bbbb'],
    ['x configured-secret-longer y', 'longer'],
  ])('holds no secret of "%s"', (text, secret) => {
    expect(scrubber.text(text)).not.toContain(secret);
  });

  it.each([
    'Unauthenticated: send Basic or Bearer credentials.',
    'TIDB_MCP_ADMIN_TOKEN=***: is shorter than 16 characters',
    'Listening on http://127.0.0.1:8080',
    'quota flush failed: ECONNREFUSED 127.0.0.1:3306',
  ])('stays as it is where it holds none: %s', (text) => {
    expect(scrubber.text(text)).toBe(text);
  });

  it('is an error with message, stack and causes, without what a library hung on it', () => {
    const error = Object.assign(new Error('refused', { cause: new Error('by jane@mail.example') }), {
      code: 'ECONNREFUSED',
      config: { headers: { authorization: 'Bearer abc:12345678' } },
      sql: 'SELECT 1',
    });
    const clean = scrubber.error(error);
    expect(Object.keys(clean).sort()).toEqual(['cause', 'code', 'message', 'stack', 'type']);
    expect(JSON.stringify(clean)).not.toMatch(/12345678|SELECT|jane/);
  });

  it('follows objects to a bounded depth and breadth, past circles, and leaves headers and bodies out', () => {
    const circle: Record<string, unknown> = {
      body: 'x',
      headers: { a: 1 },
      adminToken: 'abc',
      port: 1,
      when: new Date(0),
    };
    circle['self'] = circle;
    const clean = scrubber.value(circle) as Record<string, unknown>;
    expect(clean).toMatchObject({
      body: '***',
      headers: '***',
      adminToken: '***',
      port: 1,
      when: '1970-01-01T00:00:00.000Z',
    });
    expect(JSON.stringify(clean).length).toBeLessThan(2000);
    expect(
      Object.keys(scrubber.value(Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`k${n}`, n]))) as object),
    ).toHaveLength(50);
  });

  it('takes no longer for hostile texts', () => {
    const hostile = [
      'a'.repeat(1e6),
      'a@'.repeat(1e5),
      'bearer '.repeat(1e5),
      '://'.repeat(1e5),
      'password='.repeat(1e5),
      `a@${'a.'.repeat(1e5)}`,
    ];
    // Read again and again from each character on, these would take until the test's own time-out.
    for (const text of hostile) expect(scrubber.text(text).length).toBeLessThanOrEqual(text.length);
  });

  it.each(['configured-secret', 'somebody@example.com'])('holds no half of %s where a long text is cut', (secret) => {
    for (let before = 8192 - secret.length; before < 8186; before += 1) {
      expect(scrubber.text(`${'x'.repeat(before - 1)} ${secret} and more`)).not.toContain(secret.slice(0, 6));
    }
  });

  it('never holds a configured secret, wherever it stands', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        expect(scrubber.text(`${before}configured-secret${after}`)).not.toContain('configured-secret');
      }),
    );
  });
});
