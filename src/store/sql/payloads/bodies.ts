/** Webhook bodies, and what repeated requests are answered with. */
import type { AcceptedRequest, PayloadWrite } from '../../port/payloads.ts';
import type { Stored } from '../coder.ts';
import { rows, write as step, type Step, type Work, type WorkContext } from '../work.ts';

type Write = Extract<PayloadWrite, { kind: 'body' | 'erase-body' }>;

export function writeBody({ coder }: WorkContext, write: Write): Step {
  const { deliveryId } = write;
  const about = [`bodies ${deliveryId}`];
  if (write.kind === 'erase-body')
    return step('DELETE FROM bodies WHERE delivery_id = ?', [deliveryId], about);
  return step(
    `INSERT INTO bodies VALUES (@deliveryId, @threadId, @data, @crc)
     ON CONFLICT (delivery_id) DO UPDATE SET thread_id = excluded.thread_id, data = excluded.data, crc = excluded.crc`,
    { deliveryId, threadId: write.threadId, ...coder.columns(write.data) },
    about,
  );
}

export function* readBody({ coder }: WorkContext, deliveryId: string): Work<string | undefined> {
  const [row]: { data: Stored }[] = yield rows('SELECT data FROM bodies WHERE delivery_id = ?', [deliveryId]);
  return row && coder.open(row.data);
}

export const writeRequest = (
  { key, digest, runId, threadId, at: accepted }: PayloadWrite & { kind: 'request' },
  at: number,
): Step =>
  step(
    'INSERT INTO requests VALUES (?, ?, ?, ?, ?)',
    [key, digest, runId, threadId, accepted ?? at],
    [`requests ${key}`],
  );

export function* readRequest(key: string): Work<AcceptedRequest | undefined> {
  const [row]: AcceptedRequest[] = yield rows(
    'SELECT digest, run_id AS "runId", thread_id AS "threadId" FROM requests WHERE key = ?',
    [key],
  );
  return row;
}
