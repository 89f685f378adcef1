/** Writes the queue; `views/claim-queries.ts` says what its rows mean. */
import type { PayloadWrite } from '../port/payloads.ts';
import type { Prepare } from './statements.ts';

/** A thread becomes due no earlier than it is queued, so those that wait longest come first. */
export function writeQueue(
  prepare: Prepare,
  { threadId, next }: PayloadWrite & { kind: 'queue' },
  at: number,
): void {
  if (next === undefined) prepare('DELETE FROM queue WHERE thread_id = ?').run(threadId);
  else {
    const due = next === null || next === 0 ? next : Math.max(next, at);
    prepare('INSERT OR REPLACE INTO queue VALUES (?, ?)').run(threadId, due);
  }
}
