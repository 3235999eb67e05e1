import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';

/** The ledger of confirmations. Every step may find its work done: MySQL commits each DDL statement by itself. */
export class ConfirmNonce1764547200000 implements MigrationInterface {
  readonly name = 'ConfirmNonce1764547200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'confirm_nonce',
        columns: [
          { name: 'token_hash', type: 'varchar', length: '64', isPrimary: true },
          { name: 'caller', type: 'varchar', length: '64' },
          { name: 'operation', type: 'varchar', length: '32' },
          { name: 'digest', type: 'varchar', length: '64' },
          { name: 'sealed_plan', type: 'text' },
          { name: 'created_at', type: 'bigint' },
          { name: 'expires_at', type: 'bigint' },
          { name: 'consumed_at', type: 'bigint' },
          { name: 'attempt', type: 'varchar', length: '36' },
          { name: 'outcome', type: 'varchar', length: '32' },
          { name: 'sealed_result', type: 'text' },
        ],
        indices: [{ name: 'confirm_nonce_expired', columnNames: ['expires_at'] }],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('confirm_nonce', true);
  }
}
