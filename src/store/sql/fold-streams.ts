/** P2: rows are a function of the log. They are folded stream by stream, in order of version. */
import type { Recorded } from '../port/events.ts';
import { createRowFold, type RowFold } from '../port/fold-rows.ts';
import { nextEvents, toRecorded, type EventRow } from './event-store.ts';
import type { Projection } from './projection.ts';
import type { Work, WorkContext } from './work.ts';

export interface EventPage {
  readonly events: readonly Recorded[];
  /** Behind which the next page begins; undefined after the last page. */
  readonly last: EventRow | undefined;
  /** The event behind these cannot be read. */
  readonly failure: unknown;
}

/** Events of all streams in order of stream and version, a page of them behind `after`. */
export function* readPage({ coder }: WorkContext, after: EventRow | undefined): Work<EventPage> {
  const found = yield* nextEvents(after);
  const events: Recorded[] = [];
  for (const row of found)
    try {
      events.push(toRecorded(coder, row));
    } catch (failure) {
      return { events, last: row, failure };
    }
  return { events, last: found.at(-1), failure: undefined };
}

/** Folds events that come in this order. `take` gets the rows of each stream, which it must not keep. */
export function createStreamFold({ project }: Projection, take: (rows: RowFold) => Work<void>) {
  const fold = createRowFold();
  let stream: string | undefined;
  return {
    *add(events: readonly Recorded[]): Work<void> {
      for (const event of events) {
        if (event.meta.stream !== stream) {
          yield* take(fold);
          fold.clear();
          stream = event.meta.stream;
        }
        for (const write of project(event)) fold.add(write, event.meta.position);
      }
    },
    /** Call behind the last event. */
    end: (): Work<void> => take(fold),
  };
}
