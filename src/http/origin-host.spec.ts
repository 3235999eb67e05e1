import { describe, expect, it } from 'vitest';
import { OriginHostCheck } from './origin-host.js';

const check = (allowedHosts: string[], allowedOrigins: string[] = []) =>
  new OriginHostCheck({ allowedHosts, allowedOrigins });
const loopback = check(['localhost', '127.0.0.1', '[::1]']);

describe('The Host check', () => {
  it.each(['localhost', 'LOCALHOST:8080', '127.0.0.1:1', '[::1]:8080', '[::1]'])(
    'takes the loopback name %s',
    (host) => {
      expect(loopback.isHostAllowed(host)).toBe(true);
    },
  );

  it.each([
    undefined,
    '',
    'evil.example',
    'localhost.evil.example',
    'localhost@evil.example',
    '127.0.0.1.evil.example:80',
    'localhost:80:80',
    'localhost/x',
  ])('turns %j away', (host) => {
    expect(loopback.isHostAllowed(host)).toBe(false);
  });

  it('compares the port only where the entry has one', () => {
    const one = check(['api.example:8443', 'other.example']);
    expect(
      ['api.example:8443', 'api.example', 'api.example:80', 'other.example:1'].map((host) => one.isHostAllowed(host)),
    ).toEqual([true, false, false, true]);
  });
});

describe('The Origin check', () => {
  it('lets callers that are no browser pass', () => {
    expect(loopback.judgeOrigin(undefined, 'localhost')).toBe('none');
  });

  it('lets pages of listed origins pass, and no other', () => {
    const one = check(['*'], ['https://app.example']);
    const verdicts = [
      'https://app.example',
      'http://app.example',
      'https://app.example:444',
      'https://app.example.evil',
      'null',
      '',
    ];
    expect(verdicts.map((origin) => one.judgeOrigin(origin, 'api.example'))).toEqual([
      'allowed',
      'forbidden',
      'forbidden',
      'forbidden',
      'forbidden',
      'forbidden',
    ]);
  });

  it('lets the own pages of a server pass on a loopback name or a listed one, not behind a wildcard', () => {
    expect(loopback.judgeOrigin('http://localhost:8080', 'localhost:8080')).toBe('own');
    expect(loopback.judgeOrigin('http://localhost:8081', 'localhost:8080')).toBe('forbidden');
    expect(check(['*']).judgeOrigin('http://127.0.0.1', '127.0.0.1:80')).toBe('own');
    expect(check(['*']).judgeOrigin('https://api.example', 'api.example')).toBe('forbidden');
    expect(check(['api.example']).judgeOrigin('https://api.example', 'api.example:443')).toBe('own');
  });
});
