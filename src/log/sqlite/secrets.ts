/** A4 What runs, and crons for their runs, need of their makers: each in a row of its own. */
import type { PayloadWrite } from '../payloads.ts';
import type { Prepare } from './statements.ts';

export const CRON_SECRETS =
  'CREATE TABLE cron_secrets (cron_id TEXT PRIMARY KEY, data TEXT NOT NULL) STRICT, WITHOUT ROWID';

const STATEMENTS = {
  secret: 'INSERT OR REPLACE INTO secrets VALUES (@runId, @threadId, @data)',
  'erase-secret': 'DELETE FROM secrets WHERE run_id = @runId',
  'cron-secret': 'INSERT OR REPLACE INTO cron_secrets VALUES (@cronId, @data)',
  'erase-cron-secret': 'DELETE FROM cron_secrets WHERE cron_id = @cronId',
} as const;

export function writeSecret(prepare: Prepare, write: PayloadWrite & { kind: keyof typeof STATEMENTS }): void {
  prepare(STATEMENTS[write.kind]).run(write);
}

export const readSecret = (prepare: Prepare, runId: string): string | undefined =>
  prepare('SELECT data FROM secrets WHERE run_id = ?').pluck().get(runId) as string | undefined;

export const readCronSecret = (prepare: Prepare, cronId: string): string | undefined =>
  prepare('SELECT data FROM cron_secrets WHERE cron_id = ?').pluck().get(cronId) as string | undefined;
