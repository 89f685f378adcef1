/**
 * The position of an event in its thread. S2 A position depends only on the log, so all readers get the same ids over
 * any transport.
 *
 * `ordinal` is the run's ordinal, a thread version: it increases from run to run and is never reused. `index` counts the
 * run's events from 0. The pair forms the event id and a monotonic sequence number. Ends of graphs and interrupts have
 * an id that contains the run id and a mark (`NamedEvent`).
 */
export interface StreamCursor {
  readonly ordinal: number;
  readonly index: number;
}

/** Sequence numbers per ordinal. Ordinals up to 33 million stay within the safe integers. */
const SEQ_SPAN = 2 ** 28;

/** The position before a thread's first event. */
export const START: StreamCursor = { ordinal: 0, index: -1 };

export const toSeq = ({ ordinal, index }: StreamCursor): number => ordinal * SEQ_SPAN + index;
export const toEventId = ({ ordinal, index }: StreamCursor): string => `${ordinal}-${index}`;

/** The sequence number before the run's first event and after all events of earlier runs. */
export const beforeRun = (ordinal: number): number => toSeq({ ordinal, index: -1 });

/** Inverse of `toSeq`; undefined for a negative or unsafe integer. */
export function parseSeq(seq: number): StreamCursor | undefined {
  if (!Number.isSafeInteger(seq) || seq < 0) return undefined;
  return { ordinal: Math.floor(seq / SEQ_SPAN), index: seq % SEQ_SPAN };
}

/** An event whose id names its run instead of a position. */
export interface NamedEvent {
  readonly runId: string;
  readonly eventId: string;
}

export function parseEventId(text: string): StreamCursor | NamedEvent | undefined {
  const match = /^(\d{1,8})-(\d{1,9})$/.exec(text);
  if (match !== null) return { ordinal: Number(match[1]), index: Number(match[2]) };
  const runId = /^synth:([^:]+):/.exec(text)?.[1];
  return runId === undefined ? undefined : { runId, eventId: text };
}
