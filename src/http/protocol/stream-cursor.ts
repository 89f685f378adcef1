import { parseEventId, parseSeq, type NamedEvent, type StreamCursor } from '../../protocol/stream-cursor.ts';

/** Cursor of a thread's reader, from the request. Undefined, also for an invalid id, means the beginning. */
export function resumeCursor(
  given: { readonly since?: number | undefined; readonly since_event_id?: string | undefined },
  lastEventId?: string,
): StreamCursor | NamedEvent | undefined {
  const id = lastEventId ?? given.since_event_id;
  if (id !== undefined) return parseEventId(id);
  return given.since === undefined ? undefined : parseSeq(given.since);
}
