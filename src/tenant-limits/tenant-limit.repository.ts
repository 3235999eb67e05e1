import { Injectable } from '@nestjs/common';
import type { EntityTarget, ObjectLiteral } from 'typeorm';
import { ControlDatabaseService } from '../control-db/control-database.service.js';
import { ProvenCredentialRow } from '../control-db/proven-credential.entity.js';
import { QuotaUsage } from '../control-db/quota-usage.entity.js';
import { TenantLimitRow } from '../control-db/tenant-limit.entity.js';
import { TENANT_DIGITS } from '../request/shown-tenant.js';
import { MAX_TENANT_LIMITS, type NamedTenantLimit, type TenantLimit } from './tenant-limits.js';

/** The tenants' own limits in the control database. Every method rejects with a DatabaseError after two seconds. */
@Injectable()
export class TenantLimitRepository {
  constructor(private readonly database: ControlDatabaseService) {}

  /** All of them, by fingerprint; one more than are held, so that too many can be told. */
  async list(): Promise<NamedTenantLimit[]> {
    const rows = await this.database.run((manager) =>
      manager.find(TenantLimitRow, { order: { fingerprint: 'ASC' }, take: MAX_TENANT_LIMITS + 1 }),
    );
    return rows.map(fromRow);
  }

  /** One tenant's, or undefined. */
  async find(fingerprint: string): Promise<NamedTenantLimit | undefined> {
    const row = await this.database.run((manager) => manager.findOneBy(TenantLimitRow, { fingerprint }));
    return row === null ? undefined : fromRow(row);
  }

  /**
   * The fingerprints that begin with `digits` among the tenants that have called, have limits of their own or are
   * proven; a hundred of each kind at the most.
   */
  async knownTenants(digits: string): Promise<string[]> {
    const range = { from: digits.padEnd(TENANT_DIGITS, '0'), to: digits.padEnd(TENANT_DIGITS, 'f') };
    const rows = await this.database.run(async (manager) => {
      const among = (entity: EntityTarget<ObjectLiteral>, column: string): Promise<{ name: string }[]> =>
        manager
          .createQueryBuilder(entity, 't')
          .select(`t.${column}`, 'name')
          .distinct(true)
          .where(`t.${column} BETWEEN :from AND :to`, range)
          .limit(MAX_KNOWN)
          .getRawMany();
      const called = await among(QuotaUsage, 'tenant');
      const limited = await among(TenantLimitRow, 'fingerprint');
      return [...called, ...limited, ...(await among(ProvenCredentialRow, 'tenant'))];
    });
    return [...new Set(rows.map(({ name }) => name))];
  }

  /** Sets what is given and leaves the rest as it was; answers what is in force then. */
  async set(fingerprint: string, change: Partial<TenantLimit>, utcMs: number): Promise<NamedTenantLimit> {
    return this.database.transaction(async (manager) => {
      const known = await manager.findOneBy(TenantLimitRow, { fingerprint });
      const row = { ...NONE, ...columnsOf(known), fingerprint, ...toColumns(change), updatedAt: utcMs };
      await manager.upsert(TenantLimitRow, row, ['fingerprint']);
      return fromRow(row);
    });
  }

  /** Takes a tenant's limits away; false where it had none. */
  async clear(fingerprint: string): Promise<boolean> {
    return this.database.transaction(async (manager) => {
      const known = await manager.findOneBy(TenantLimitRow, { fingerprint });
      if (known === null) return false;
      await manager.delete(TenantLimitRow, { fingerprint });
      return true;
    });
  }
}

const MAX_KNOWN = 100;

const NONE = { requestsPerSecond: 0, burst: 0, callsPerUtcDay: 0 };

type Columns = Omit<TenantLimitRow, 'updatedAt'>;

function columnsOf(row: TenantLimitRow | null): Partial<Columns> {
  if (row === null) return {};
  const { requestsPerSecond, burst, callsPerUtcDay } = row;
  return { requestsPerSecond, burst, callsPerUtcDay };
}

function fromRow({ fingerprint, requestsPerSecond, burst, callsPerUtcDay }: Columns): NamedTenantLimit {
  return {
    fingerprint,
    requestsPerSecond: requestsPerSecond || undefined,
    burst: burst || undefined,
    callsPerUtcDay: callsPerUtcDay || undefined,
  };
}

function toColumns(change: Partial<TenantLimit>): Partial<Columns> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}
