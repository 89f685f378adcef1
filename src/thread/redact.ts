/**
 * Removes content from events of runs that are deleted, pruned or rolled back. This is the one exception to L3 (events
 * are never edited). It happens in the commit of the deleting event: text that people wrote or read is erased, and
 * data that ordering depends on stays.
 */
import type { Outcome, ThreadEvent } from './events.ts';

/** Returns the event without content of these runs; the identical object when there is none to remove. */
export function redact(event: ThreadEvent, runIds: ReadonlySet<string>): ThreadEvent {
  if (event.type === 'RunDeleted' && event.data.left?.runId != null && runIds.has(event.data.left.runId))
    return { ...event, data: { ...event.data, left: null } };
  if (!('runId' in event.data) || !runIds.has(event.data.runId)) return event;
  switch (event.type) {
    case 'RunCreated': {
      const kwargs = { input: null, config: {}, streamMode: [], streamSubgraphs: false };
      const { title: _, ...data } = event.data;
      return { ...event, data: { ...data, metadata: {}, kwargs } };
    }
    case 'RunRequeued':
      return { ...event, data: { ...event.data, reason: '' } };
    case 'RunCompleted': {
      const { observed: _, repeated: __, ...data } = event.data;
      return { ...event, data: { ...data, outcome: bare(data.outcome) } };
    }
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
    // P2 The thread keeps showing the reason, which is server text and holds no user content.
    case 'rolled-back':
      return outcome;
  }
}
