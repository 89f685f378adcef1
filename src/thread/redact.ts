/**
 * What is left of a deleted run's facts. L3 says that a fact is never edited; this is the one exception, made in the
 * commit of the fact that says so: what a person wrote or read goes, what the order of things rests on stays.
 */
import type { Outcome, ThreadEvent } from './events.ts';

/** The fact without content of `runId`; unchanged when it holds none. */
export function redact(event: ThreadEvent, runId: string): ThreadEvent {
  if (event.type === 'RunDeleted' && event.data.left?.runId === runId)
    return { ...event, data: { ...event.data, left: null } };
  if (!('runId' in event.data) || event.data.runId !== runId) return event;
  switch (event.type) {
    case 'RunCreated': {
      const kwargs = { input: null, config: {}, streamMode: [], streamSubgraphs: false };
      return { ...event, data: { ...event.data, metadata: {}, kwargs } };
    }
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
    case 'rolled-back':
      return { kind: outcome.kind, reason: '' };
  }
}
