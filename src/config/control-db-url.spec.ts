import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeControlDb, fromAnywhere, parseControlDbUrl } from './control-db-url.js';

function optionsOf(text: string) {
  const parsed = parseControlDbUrl(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.options;
}

function messageOf(text: string): string {
  const parsed = parseControlDbUrl(text);
  if (parsed.ok) throw new Error(`${text} was accepted`);
  return parsed.message;
}

describe('the URL of the control database', () => {
  let folder: string;
  let caFile: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'control-db-url-'));
    caFile = join(folder, 'ca.pem');
    writeFileSync(caFile, 'pem');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['sqlite:./data/control.db', './data/control.db'],
    ['sqlite:data.db', 'data.db'],
    ['sqlite:/var/lib/control.db', '/var/lib/control.db'],
    ['sqlite:///var/lib/control.db', '/var/lib/control.db'],
    ['sqlite::memory:', ':memory:'],
  ])('%s is the file %s', (text, path) => {
    expect(optionsOf(text)).toEqual({ dialect: 'sqlite', path });
  });

  it('a server has its usual port, and user, password and database are percent-decoded', () => {
    expect(optionsOf('mysql://a%40b:p%3Aw%2F%23@db.example/quota%20s')).toEqual({
      dialect: 'mysql',
      host: 'db.example',
      port: 3306,
      user: 'a@b',
      password: 'p:w/#',
      database: 'quota s',
      tls: undefined,
    });
    expect(optionsOf('postgresql://[::1]:6000/x')).toMatchObject({ dialect: 'postgres', host: '::1', port: 6000 });
    expect(optionsOf('postgres://%2Fvar%2Frun/x')).toMatchObject({ host: '/var/run' });
    expect(optionsOf('mysql://control_db.local./x')).toMatchObject({ host: 'control_db.local.' });
    expect(optionsOf('postgres://h/x')).toMatchObject({ port: 5432, user: undefined, password: undefined });
  });

  it.each([
    ['ssl=true', { verify: true, caFile: undefined }],
    ['sslmode=require', { verify: true, caFile: undefined }],
    ['sslmode=verify-full', { verify: true, caFile: undefined }],
    ['ssl={"rejectUnauthorized":true}', { verify: true, caFile: undefined }],
    ['ssl=no-verify', { verify: false, caFile: undefined }],
    ['ssl={"rejectUnauthorized":false}', { verify: false, caFile: undefined }],
    ['ssl=false', undefined],
    ['sslmode=disable', undefined],
  ])('with %s TLS is %j', (query, tls) => {
    expect(optionsOf(`mysql://h/x?${query}`)).toMatchObject({ tls });
  });

  it('a CA file switches TLS on, and has to be readable when the server starts', () => {
    expect(optionsOf(`mysql://h/x?sslca=${caFile}`)).toMatchObject({ tls: { verify: true, caFile } });
    expect(messageOf(`mysql://h/x?sslca=${folder}/missing.pem`)).toContain('can not be read');
    expect(messageOf(`mysql://h/x?ssl=no-verify&sslca=${caFile}`)).toContain('nothing is verified');
  });

  it.each([
    ['', 'unknown scheme'],
    ['./control.db', 'unknown scheme'],
    ['oracle://h/x', 'unknown scheme'],
    ['sqlite:', 'names no file'],
    ['sqlite://host/x', 'has a host'],
    ['sqlite:http://h/x', 'names a URL'],
    ['sqlite:./x?mode=ro', 'takes none'],
    ['sqlite:./data/', 'names a folder'],
    ['sqlite:..', 'names a folder'],
    ['sqlite:  ', 'names a file of blanks'],
    ['mysql://*/x', 'neither a name nor an address'],
    ['postgres://a,b/x', 'neither a name nor an address'],
    ['postgres://h:0/x', 'has port 0'],
    ['mysql:///x', 'names no host'],
    ['mysql://h', 'names no database'],
    ['mysql://h/', 'names no database'],
    ['mysql://h/a/b', 'more than one path segment'],
    ['mysql://u:50%@h/x', 'stray %'],
    ['mysql://h:99999/x', 'is not a URL'],
    ['mysql://h/x#y', 'has a fragment'],
    ['mysql://h/x?ssl=yes', 'unknown ssl or sslmode option (known: true, require'],
    ['mysql://h/x?ssl=', 'unknown ssl or sslmode option'],
    ['mysql://h/x?ssl=constructor', 'unknown ssl or sslmode option'],
    ['mysql://h/x?charset=latin1', 'unknown option'],
    ['mysql://h/x?ssl=true&sslmode=disable', 'twice'],
    ['mysql://192.0.2.1/x?ssl=true', "needs the host's name"],
    ['mysql://[2001:db8::1]/x?ssl=true', "needs the host's name"],
  ])('%s is refused: it %s', (text, message) => {
    expect(messageOf(text)).toContain(message);
  });

  it('nothing that is said about a URL holds its user or its password', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9%#?/@:]{6,12}$/).map((text) => `Zq${text}Zq`);
    const scheme = fc.constantFrom('mysql', 'postgres', 'sqlite', 'oracle');
    fc.assert(
      fc.property(scheme, secret, secret, (name, user, password) => {
        const parsed = parseControlDbUrl(`${name}://${user}:${password}@host/x`);
        if (parsed.ok && parsed.options.dialect !== 'sqlite') {
          const { host, database, port } = parsed.options;
          expect(describeControlDb(parsed.options)).toBe(`${parsed.options.dialect}://${host}:${port}/${database}`);
        }
        if (!parsed.ok) expect(parsed.message).not.toMatch(/Zq/);
      }),
    );
    expect(describeControlDb(optionsOf('mysql://Zq1:Zq2@h/x?ssl=true'))).toBe('mysql://h:3306/x');
    expect(describeControlDb(optionsOf('postgres://Zq1:Zq2@[::1]/x'))).toBe('postgres://[::1]:5432/x');
  });

  it('names a file by its whole path to whoever is elsewhere, and nothing else otherwise than it is', () => {
    expect(fromAnywhere(optionsOf('sqlite:./data/x.db'))).toEqual({ dialect: 'sqlite', path: resolve('data', 'x.db') });
    for (const text of ['sqlite:/var/x.db', 'sqlite::memory:', 'mysql://h/x?ssl=true'])
      expect(fromAnywhere(optionsOf(text))).toEqual(optionsOf(text));
  });
});
