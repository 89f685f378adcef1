import { parseEventId, parseSeq, type NamedEvent, type Place } from '../protocol/place.ts';

/** Where a reader of a thread goes on. Whatever is no place of a thread means from the beginning. */
export function resumePlace(
  given: { readonly since?: number | undefined; readonly since_event_id?: string | undefined },
  lastEventId?: string,
): Place | NamedEvent | undefined {
  const id = lastEventId ?? given.since_event_id;
  if (id !== undefined) return parseEventId(id);
  return given.since === undefined ? undefined : parseSeq(given.since);
}
