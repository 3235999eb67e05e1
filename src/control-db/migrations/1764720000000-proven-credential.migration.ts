import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';

/** The proofs that outlive a deploy. */
export class ProvenCredential1764720000000 implements MigrationInterface {
  readonly name = 'ProvenCredential1764720000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.createTable(
      new Table({
        name: 'proven_credential',
        columns: [
          { name: 'fingerprint', type: 'varchar', length: '64', isPrimary: true },
          { name: 'tenant', type: 'varchar', length: '64' },
          { name: 'accepted_at', type: 'bigint' },
          { name: 'used_at', type: 'bigint' },
          { name: 'rejected_at', type: 'bigint' },
          { name: 'updated_at', type: 'bigint' },
        ],
        indices: [{ name: 'proven_credential_updated', columnNames: ['updated_at', 'fingerprint'] }],
      }),
      true,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('proven_credential', true);
  }
}
