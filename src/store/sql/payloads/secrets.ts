/** A4 What runs, and crons for their runs, need of their makers: each in a row of its own. */
import type { PayloadWrite } from '../../port/payloads.ts';
import type { Stored } from '../coder.ts';
import { rows, write as step, type Step, type Work, type WorkContext } from '../work.ts';

type Write = Extract<PayloadWrite, { kind: 'secret' | 'erase-secret' | 'cron-secret' | 'erase-cron-secret' }>;

const ANEW = 'DO UPDATE SET data = excluded.data, crc = excluded.crc';

export function writeSecret({ coder }: WorkContext, write: Write): Step {
  switch (write.kind) {
    case 'secret':
      return step(
        `INSERT INTO secrets VALUES (@runId, @threadId, @data, @crc) ON CONFLICT (run_id) ${ANEW}`,
        {
          ...{ runId: write.runId, threadId: write.threadId },
          ...coder.columns(write.data, 'secret'),
        },
        [`secrets ${write.runId}`],
      );
    case 'erase-secret':
      return step('DELETE FROM secrets WHERE run_id = ?', [write.runId], [`secrets ${write.runId}`]);
    case 'cron-secret':
      return step(`INSERT INTO cron_secrets VALUES (@cronId, @data, @crc) ON CONFLICT (cron_id) ${ANEW}`, {
        cronId: write.cronId,
        ...coder.columns(write.data, 'secret'),
      });
    case 'erase-cron-secret':
      return step('DELETE FROM cron_secrets WHERE cron_id = ?', [write.cronId]);
  }
}

export const readSecret = (context: WorkContext, runId: string): Work<string | undefined> =>
  read(context, 'SELECT data FROM secrets WHERE run_id = ?', runId);

export const readCronSecret = (context: WorkContext, cronId: string): Work<string | undefined> =>
  read(context, 'SELECT data FROM cron_secrets WHERE cron_id = ?', cronId);

function* read({ coder }: WorkContext, sql: string, id: string): Work<string | undefined> {
  const [row]: { data: Stored }[] = yield rows(sql, [id]);
  return row && coder.open(row.data, 'secret');
}
