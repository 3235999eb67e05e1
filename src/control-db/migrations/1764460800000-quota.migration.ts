import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';

/** The tables of the shared quota. Every step may find its work done: MySQL commits each DDL statement by itself. */
export class Quota1764460800000 implements MigrationInterface {
  readonly name = 'Quota1764460800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'quota_usage',
        columns: [
          { name: 'tenant', type: 'varchar', length: '64', isPrimary: true },
          { name: 'utc_day', type: 'date', isPrimary: true },
          { name: 'calls', type: 'bigint' },
          { name: 'updated_at', type: 'bigint' },
        ],
        indices: [{ name: 'quota_usage_changed', columnNames: ['utc_day', 'updated_at', 'tenant'] }],
      }),
      true,
    );
    await runner.createTable(
      new Table({
        name: 'quota_instance',
        columns: [
          { name: 'instance_id', type: 'varchar', length: '36', isPrimary: true },
          { name: 'last_batch', type: 'bigint' },
          { name: 'seen_at', type: 'bigint' },
        ],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('quota_instance', true);
    await runner.dropTable('quota_usage', true);
  }
}
