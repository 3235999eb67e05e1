import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChallenges } from './challenge.js';
import { DigestNonce, saysStale, selectDigest } from './digest.js';

function select(header: string | string[]): ReturnType<typeof selectDigest> {
  return selectDigest(parseChallenges(header));
}

function sign(header: string, username: string, password: string, cnonce: string, uri = '/dir/index.html'): string {
  const challenge = select(header);
  if (challenge === undefined) throw new Error('no challenge');
  return new DigestNonce(challenge, () => cnonce).sign(username, password, { method: 'GET', uri });
}

/** The parameters of an Authorization header, read as any other header is. */
function paramsOf(authorization: string): Map<string, string> {
  return new Map(parseChallenges(authorization)[0]?.params);
}

const RFC7616 =
  'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=ALGORITHM, ' +
  'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"';
const RFC7616_CNONCE = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ';

describe('Answering Digest challenges', () => {
  it.each([
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ])('gives the response of the example in RFC 7616, section 3.9.1, with %s', (algorithm, response) => {
    const header = sign(RFC7616.replace('ALGORITHM', algorithm), 'Mufasa', 'Circle of Life', RFC7616_CNONCE);
    expect(header).toBe(
      'Digest username="Mufasa", realm="http-auth@example.org", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", ' +
        `uri="/dir/index.html", response="${response}", algorithm=${algorithm}, ` +
        `opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", qop=auth, nc=00000001, cnonce="${RFC7616_CNONCE}"`,
    );
  });

  it('gives the response of the example in RFC 2617, section 3.5, where no algorithm is named', () => {
    const challenge =
      'Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", ' +
      'opaque="5ccc069c403ebaf9f0171e9517f40e41"';
    const params = paramsOf(sign(challenge, 'Mufasa', 'Circle Of Life', '0a4f113b'));
    expect(params.get('response')).toBe('6629fae49393a05397450978507c4ef1');
    expect(params.has('algorithm')).toBe(false);
  });

  it('answers a server that knows no qop in the way of RFC 2069', () => {
    const params = paramsOf(sign('Digest realm="r", nonce="n"', 'user', 'pass', 'unused'));
    const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
    expect(params.get('response')).toBe(md5(`${md5('user:r:pass')}:n:${md5('GET:/dir/index.html')}`));
    expect([...params.keys()]).not.toContain('nc');
    expect([...params.keys()]).not.toContain('cnonce');
  });

  it('hashes the first cnonce into a session key and keeps it', () => {
    const challenge = select('Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256-sess');
    if (challenge === undefined) throw new Error('no challenge');
    const cnonces = ['one', 'two'];
    const nonce = new DigestNonce(challenge, () => cnonces.shift() ?? '');
    const line = { method: 'GET', uri: '/' };
    nonce.sign('user', 'pass', line);
    const second = paramsOf(nonce.sign('user', 'pass', line));
    const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
    const key = sha(`${sha('user:r:pass')}:n:one`);
    expect(second.get('cnonce')).toBe('one');
    expect(second.get('response')).toBe(sha(`${key}:n:00000002:one:auth:${sha('GET:/')}`));
  });

  it('counts the requests under one nonce, each with a new cnonce', () => {
    const challenge = select('Digest realm="r", nonce="n", qop="auth"');
    if (challenge === undefined) throw new Error('no challenge');
    let made = 0;
    const nonce = new DigestNonce(challenge, () => `c${(made += 1)}`);
    const signed = Array.from({ length: 17 }, () => paramsOf(nonce.sign('u', 'p', { method: 'GET', uri: '/' })));
    expect(signed.map((params) => params.get('nc'))).toEqual(
      Array.from({ length: 17 }, (_, index) => (index + 1).toString(16).padStart(8, '0')),
    );
    expect(new Set(signed.map((params) => params.get('cnonce'))).size).toBe(17);
  });

  it.each([
    [
      'SHA-256 before MD5, whatever their order',
      [
        'Digest realm="r", nonce="n", qop="auth", algorithm=MD5, Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256',
      ],
      'SHA-256',
    ],
    [
      'SHA-256 that comes first',
      [
        'Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256',
        'Digest realm="r", nonce="n", qop="auth", algorithm=MD5',
      ],
      'SHA-256',
    ],
    [
      'MD5 beside an algorithm it does not speak',
      [
        'Digest realm="r", nonce="n", qop="auth", algorithm=SHA-512-256',
        'Digest realm="r", nonce="n", qop="auth", algorithm=md5',
      ],
      'md5',
    ],
    [
      'a Digest challenge among others',
      ['Basic realm="r"', 'Bearer', 'Digest realm="r", nonce="n", qop=auth, algorithm="MD5"'],
      'MD5',
    ],
  ])('chooses %s', (_title, headers, algorithm) => {
    expect(select(headers)?.algorithm.text).toBe(algorithm);
  });

  it.each([
    ['Basic', 'Basic realm="r"'],
    ['no realm', 'Digest nonce="n", qop="auth"'],
    ['no nonce', 'Digest realm="r", qop="auth"'],
    ['an empty nonce', 'Digest realm="r", nonce="", qop="auth"'],
    ['auth-int alone', 'Digest realm="r", nonce="n", qop="auth-int"'],
    ['an unknown algorithm', 'Digest realm="r", nonce="n", qop="auth", algorithm=SHA-1'],
    ['SHA-256 without qop', 'Digest realm="r", nonce="n", algorithm=SHA-256'],
    ['a session key without qop', 'Digest realm="r", nonce="n", algorithm=MD5-sess'],
    ['a nonce of 2,049 characters', `Digest realm="r", nonce="${'n'.repeat(2049)}", qop="auth"`],
  ])('does not answer %s', (_title, header) => {
    expect(select(header)).toBeUndefined();
  });

  it.each([
    ['Digest realm="r", nonce="n", stale=true', true],
    ['Digest realm="r", nonce="n", stale="TRUE"', true],
    ['Digest realm="r", nonce="n", stale=false', false],
    ['Digest realm="r", nonce="n"', false],
    ['Basic realm="r", stale=true', false],
  ])('takes "%s" for stale: %s', (header, stale) => {
    expect(saysStale(parseChallenges(header))).toBe(stale);
  });

  it('hashes a UTF-8 realm, which arrives as Latin-1 text, as the server hashes it, and echoes its bytes', () => {
    const latin1 = Buffer.from('Größe, € 日本').toString('latin1');
    const params = paramsOf(sign(`Digest realm="${latin1}", nonce="n"`, 'user', 'pass', ''));
    const md5 = (value: string): string => createHash('md5').update(value).digest('hex');
    expect(params.get('response')).toBe(md5(`${md5('user:Größe, € 日本:pass')}:n:${md5('GET:/dir/index.html')}`));
    expect(Buffer.from(params.get('realm') ?? '', 'latin1').toString()).toBe('Größe, € 日本');
  });

  it('writes a header that says exactly what was signed, whatever the realm, the nonce and the key hold', () => {
    const visible = fc.stringMatching(/^[\x20-\x7e]{1,30}$/);
    const anything = fc.string({ unit: 'binary', minLength: 1 });
    fc.assert(
      fc.property(visible, visible, visible, anything, (realm, nonce, username, password) => {
        const quote = (value: string): string => `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
        const header = sign(`Digest realm=${quote(realm)}, nonce=${quote(nonce)}, qop="auth"`, username, password, 'c');
        const params = paramsOf(header);
        const md5 = (value: string): string => createHash('md5').update(value).digest('hex');
        const key = md5(`${username}:${realm}:${password}`);
        expect(params.get('username')).toBe(username);
        expect(params.get('realm')).toBe(realm);
        expect(params.get('nonce')).toBe(nonce);
        expect(params.get('response')).toBe(md5(`${key}:${nonce}:00000001:c:auth:${md5('GET:/dir/index.html')}`));
      }),
    );
  });

  it('never lets a username break the header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (username) => {
        const header = sign('Digest realm="r", nonce="n", qop="auth"', username, 'p', 'c');
        expect(header).toMatch(/^[\x20-\x7e]*$/);
        expect(paramsOf(header).get('nonce')).toBe('n');
      }),
    );
    expect(sign('Digest realm="r", nonce="n"', 'Jäsøn Doe', 'p', 'c')).toContain(
      "username*=UTF-8''J%C3%A4s%C3%B8n%20Doe,",
    );
  });
});
