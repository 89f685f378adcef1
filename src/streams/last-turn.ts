import type { EventLog } from '../log/log.ts';
import { threadStream } from '../thread/events.ts';

/**
 * No turn of the thread is later; 0 when there is no thread. Turns are versions: that of a run which was rolled back or
 * deleted is a place for readers too, and perhaps the last one.
 */
export async function lastTurn(log: Pick<EventLog, 'loadSnapshot'>, threadId: string): Promise<number> {
  return (await log.loadSnapshot(threadStream(threadId)))?.version ?? 0;
}
