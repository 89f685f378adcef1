/** Writes the queue; `views/claim-queries.ts` says what its rows mean. */
import type { PayloadWrite } from '../port/payloads.ts';
import { write, type Work, type WorkContext } from './work.ts';

/** A thread becomes due no earlier than it is queued, so those that wait longest come first. */
export function* writeQueue(
  { shared }: WorkContext,
  { threadId, next, holder }: PayloadWrite & { kind: 'queue' },
  at: number,
): Work<void> {
  const about = [`queue ${threadId}`];
  if (next === undefined) {
    yield write('DELETE FROM queue WHERE thread_id = ?', [threadId], about);
    return;
  }
  const due = next === null || next === 0 ? next : Math.max(next, at);
  if (shared === undefined)
    yield write(
      `INSERT INTO queue (thread_id, due_at) VALUES (?, ?)
       ON CONFLICT (thread_id) DO UPDATE SET due_at = excluded.due_at`,
      [threadId, due],
      about,
    );
  else
    yield write(
      `INSERT INTO queue (thread_id, due_at, holder) VALUES (?, ?, ?)
       ON CONFLICT (thread_id) DO UPDATE
         SET due_at = excluded.due_at, holder = excluded.holder, picked_until = NULL`,
      [threadId, due, holder ?? null],
      about,
    );
}
