import { Injectable } from '@nestjs/common';
import { ControlDatabaseService } from '../control-db/control-database.service.js';
import { TenantLimitRow } from '../control-db/tenant-limit.entity.js';
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
