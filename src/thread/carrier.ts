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

/** `carrier`: of the temporary thread before the events; undefined before its first run. */
export function withCarrier(
  carrier: string | null | undefined,
  events: readonly ThreadEvent[],
): readonly ThreadEvent[] {
  let current = carrier;
  return events.map((event) => {
    if (current === undefined && event.type === 'RunCreated') current = event.data.runId;
    if (current == null || !WRITES_THREAD.has(event.type)) return event;
    const carried = { ...event, data: { ...event.data, carrier: current } } as ThreadEvent;
    current = carrierAfter(carried);
    return carried;
  });
}
