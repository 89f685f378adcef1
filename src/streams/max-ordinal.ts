import type { EventLog } from '../store/port/log.ts';
import { threadStream } from '../thread/events.ts';

/**
 * The thread's version, 0 if the thread does not exist. A run's ordinal is a thread version, so none is greater.
 * The version also covers the ordinals of runs that were rolled back or deleted: readers may resume from those.
 */
export const maxOrdinal = (log: Pick<EventLog, 'streamVersion'>, threadId: string): Promise<number> =>
  log.streamVersion(threadStream(threadId));
