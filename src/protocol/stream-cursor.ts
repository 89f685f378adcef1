/**
 * Where an event stands in its thread. S2 A place depends on what the log holds and on nothing else, so every reader
 * gets the same ids, at any time and over any transport.
 *
 * A run's turn is the version of a fact of the thread: it grows from run to run and is never used again. The index
 * counts the run's events from 0. Both together make an id, and one number that grows for ever. Ends and beginnings
 * of runs, ends of their graphs, and questions have ids that name the run and what happened.
 */
export interface StreamCursor {
  readonly turn: number;
  readonly index: number;
}

/** More events than a run can have; turns up to 33 million stay exact numbers. */
const SPAN = 2 ** 28;

/** Before the first event of every thread. */
export const START: StreamCursor = { turn: 0, index: -1 };

export const toSeq = ({ turn, index }: StreamCursor): number => turn * SPAN + index;
export const toEventId = ({ turn, index }: StreamCursor): string => `${turn}-${index}`;

/** Before the first event of this turn, and after everything of the turns before. */
export const beforeTurn = (turn: number): number => toSeq({ turn, index: -1 });

/** The place of this number; undefined when it is none. */
export function parseSeq(seq: number): StreamCursor | undefined {
  if (!Number.isSafeInteger(seq) || seq < 0) return undefined;
  return { turn: Math.floor(seq / SPAN), index: seq % SPAN };
}

/** An event of a run, by its id. */
export interface NamedEvent {
  readonly runId: string;
  readonly eventId: string;
}

export function parseEventId(text: string): StreamCursor | NamedEvent | undefined {
  const match = /^(\d{1,8})-(\d{1,9})$/.exec(text);
  if (match !== null) return { turn: Number(match[1]), index: Number(match[2]) };
  const runId = /^synth:([^:]+):/.exec(text)?.[1];
  return runId === undefined ? undefined : { runId, eventId: text };
}
