import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseControlDbUrl } from '../config/control-db-url.js';
import { createControlConnection } from './data-source.adapter.js';

function optionsFor(url: string) {
  const parsed = parseControlDbUrl(url);
  if (!parsed.ok) throw new Error(parsed.message);
  return createControlConnection(parsed.options).dataSource.options;
}

describe('TLS to the control database', () => {
  let folder: string;
  let caFile: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'control-db-tls-'));
    caFile = join(folder, 'ca.pem');
    writeFileSync(caFile, 'the authority');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("checks the certificate and the host's name of a MySQL server, unless the URL says otherwise", () => {
    expect(optionsFor('mysql://h/x?ssl=true').extra).toMatchObject({
      ssl: { rejectUnauthorized: true, verifyIdentity: true, minVersion: 'TLSv1.2' },
    });
    expect(optionsFor(`mysql://h/x?sslca=${caFile}`).extra).toMatchObject({
      ssl: { rejectUnauthorized: true, verifyIdentity: true, ca: 'the authority' },
    });
    expect(optionsFor('mysql://h/x?ssl=no-verify').extra).toMatchObject({
      ssl: { rejectUnauthorized: false, verifyIdentity: false },
    });
    expect(optionsFor('mysql://h/x').extra).not.toHaveProperty('ssl');
  });

  it('and of a PostgreSQL server', () => {
    expect(optionsFor(`postgres://h/x?ssl=true&sslca=${caFile}`)).toMatchObject({
      ssl: { rejectUnauthorized: true, ca: 'the authority', minVersion: 'TLSv1.2' },
    });
    expect(optionsFor('postgres://h/x?sslmode=no-verify')).toMatchObject({ ssl: { rejectUnauthorized: false } });
    expect(optionsFor('postgres://h/x')).not.toHaveProperty('ssl');
  });
});
