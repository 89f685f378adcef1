/** A4 What runs, and crons for their runs, need of their makers: each in a row of its own. */
import type { Stored } from '../../sql/coder.ts';
import type { PayloadWrite } from '../../port/payloads.ts';
import type { Prepare } from '../statements.ts';

const STATEMENTS = {
  secret: 'INSERT OR REPLACE INTO secrets VALUES (@runId, @threadId, @data, @crc)',
  'erase-secret': 'DELETE FROM secrets WHERE run_id = @runId',
  'cron-secret': 'INSERT OR REPLACE INTO cron_secrets VALUES (@cronId, @data, @crc)',
  'erase-cron-secret': 'DELETE FROM cron_secrets WHERE cron_id = @cronId',
} as const;

export function writeSecret(prepare: Prepare, write: PayloadWrite & { kind: keyof typeof STATEMENTS }): void {
  prepare(STATEMENTS[write.kind]).run(
    'data' in write ? { ...write, ...prepare.coder.columns(write.data, 'secret') } : write,
  );
}

export const readSecret = (prepare: Prepare, runId: string): string | undefined =>
  read(prepare, 'SELECT data FROM secrets WHERE run_id = ?', runId);

export const readCronSecret = (prepare: Prepare, cronId: string): string | undefined =>
  read(prepare, 'SELECT data FROM cron_secrets WHERE cron_id = ?', cronId);

function read(prepare: Prepare, sql: string, id: string): string | undefined {
  const data = prepare(sql).pluck().get(id) as Stored | undefined;
  return data && prepare.coder.open(data, 'secret');
}
