/**
 * What is left of the facts of a run that was deleted, pruned or rolled back. L3 says that a fact is never edited; this
 * is the one exception, made in the commit of the fact that says so: what a person wrote or read goes, what the order
 * of things rests on stays.
 */
import type { Outcome, ThreadEvent } from './events.ts';

/** The fact without content of these runs; the very same fact when it holds none. */
export function redact(event: ThreadEvent, runIds: ReadonlySet<string>): ThreadEvent {
  if (event.type === 'RunDeleted' && event.data.left?.runId != null && runIds.has(event.data.left.runId))
    return { ...event, data: { ...event.data, left: null } };
  if (!('runId' in event.data) || !runIds.has(event.data.runId)) return event;
  switch (event.type) {
    case 'RunCreated': {
      const kwargs = { input: null, config: {}, streamMode: [], streamSubgraphs: false };
      return { ...event, data: { ...event.data, metadata: {}, kwargs } };
    }
    case 'RunRequeued':
      return { ...event, data: { ...event.data, reason: '' } };
    case 'RunCompleted':
      return { ...event, data: { ...event.data, outcome: bare(event.data.outcome) } };
    default:
      return event;
  }
}

function bare(outcome: Outcome): Outcome {
  switch (outcome.kind) {
    case 'success':
      return { kind: 'success', next: [], interrupts: {} };
    case 'error':
      return { kind: 'error', error: '', message: '' };
    case 'timeout':
      return { kind: 'timeout', message: '' };
    case 'cancelled':
      return { kind: 'cancelled', reason: '' };
    // P2 The thread goes on showing the reason, which is the server's own words.
    case 'rolled-back':
      return outcome;
  }
}
