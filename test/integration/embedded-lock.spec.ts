import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControlDatabaseService } from '../../src/control-db/control-database.service.js';
import { NonceLedger } from '../../src/confirm/nonce-ledger.repository.js';
import { waitUntil } from '../support/wait-until.js';

let folder: string;
let database: ControlDatabaseService;
let ledger: NonceLedger;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'embedded-'));
  database = new ControlDatabaseService({ controlDbUrl: `sqlite:${join(folder, 'control.db')}` });
  ledger = new NonceLedger(database);
  database.open();
  await waitUntil('connected', () => database.isConnected);
});
afterEach(async () => {
  await database.onApplicationShutdown();
  rmSync(folder, { recursive: true, force: true });
});

const preflight = (tokenHash: string) =>
  ledger.add({ tokenHash, caller: 'c', operation: 'o', digest: 'd', sealedPlan: 's' }, 60_000);
const INSTANCE = "INSERT INTO quota_instance (instance_id, last_batch, seen_at) VALUES ('a', 0, 0)";
/** What another process sees of the file. */
function seen(): string[] {
  const other = new Libsql(join(folder, 'control.db'));
  const rows = other.prepare('SELECT token_hash FROM confirm_nonce').all() as {
    token_hash: string;
  }[];
  other.close();
  return rows.map(({ token_hash: hash }) => hash);
}

describe('The embedded file, held by another process while something is written', () => {
  it('is not written where it stays held, and what is written later is there for everybody', async () => {
    const other = new Libsql(join(folder, 'control.db'));
    other.exec('BEGIN EXCLUSIVE');
    const first = preflight('first').catch(() => 'given up');
    await new Promise((resolve) => setTimeout(resolve, 2600));
    other.exec('COMMIT');
    other.close();
    expect(await first).toBe('given up');
    await database.transaction((manager) => manager.query(INSTANCE));
    await preflight('second');
    expect(seen()).toEqual(['second']);
    const third = new Libsql(join(folder, 'control.db'));
    expect(() => third.exec('BEGIN IMMEDIATE; COMMIT')).not.toThrow();
    third.close();
  });
});
