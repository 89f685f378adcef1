/**
 * The temporary thread of a stateless run has no row: the row of its first run carries it. Before anything else happens
 * to the thread than that run, such as a second one, the thread gets a row of its own and keeps it.
 */
import type { ThreadEvent } from './events.ts';

const WRITES_THREAD: ReadonlySet<ThreadEvent['type']> = new Set([
  ...(['ThreadUpdated', 'ThreadPruned', 'RunCreated', 'CheckpointSaved'] as const),
  ...(['StateUpdated', 'RunCompleted', 'RunDeleted'] as const),
]);

/** The run whose row carries the thread after the event; null once it has its own, undefined if the event says nothing. */
export function carrierAfter({ type, data }: ThreadEvent): string | null | undefined {
  const carrier = 'carrier' in data ? data.carrier : undefined;
  if (carrier === undefined) return undefined;
  const isOfRun = type === 'RunCreated' || type === 'CheckpointSaved' || type === 'RunCompleted';
  const isKept = isOfRun && data.runId === carrier;
  return isKept && !(type === 'RunCompleted' && data.outcome.kind === 'rolled-back') ? carrier : null;
}

/** What of a thread's state says whether a run carries it. */
interface Placement {
  readonly status: string;
  readonly temporary?: boolean;
  /** Undefined before the thread's first run. */
  readonly carrier?: string | null;
}

/** The events as they are stored: those that write the row of a thread which a run carries name that run. */
export function withCarrier(thread: Placement, events: readonly ThreadEvent[]): readonly ThreadEvent[] {
  if (thread.temporary !== true) return events;
  let { carrier } = thread;
  return events.map((event) => {
    if (carrier === undefined && event.type === 'RunCreated') carrier = event.data.runId;
    if (carrier == null || !WRITES_THREAD.has(event.type)) return event;
    const carried = { ...event, data: { ...event.data, carrier } } as ThreadEvent;
    carrier = carrierAfter(carried);
    return carried;
  });
}
