import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';

/** The limits that single tenants have instead of the server's. */
export class TenantLimit1764633600000 implements MigrationInterface {
  readonly name = 'TenantLimit1764633600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'tenant_limit',
        columns: [
          { name: 'fingerprint', type: 'varchar', length: '64', isPrimary: true },
          { name: 'requests_per_second', type: 'double precision' },
          { name: 'burst', type: 'bigint' },
          { name: 'calls_per_utc_day', type: 'bigint' },
          { name: 'updated_at', type: 'bigint' },
        ],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('tenant_limit', true);
  }
}
