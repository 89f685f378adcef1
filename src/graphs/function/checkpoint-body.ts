import { uuidv5 } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { createDecoder, encode } from '../codec.ts';
import type { LoadedCheckpoint, PendingWrite } from '../port.ts';
import { toWire } from '../wire.ts';

/**
 * One call of the function, which may stretch over several runs: it is called anew after every answer and after
 * every crash, from the same input, and what it did before is skipped.
 */
export interface TurnRecord {
  /** The checkpoint with the state that the function is called with. */
  readonly input: string;
  /** How many of its updates are saved. */
  readonly done: number;
  /** The answers to its interrupts, in the order of the questions. */
  readonly answers: readonly unknown[];
  /** Updates that clients sent along with answers; the function sees them in its state. */
  readonly patches: readonly Record<string, unknown>[];
}

export interface Body {
  readonly runId: string;
  readonly turn: TurnRecord;
  /** A client's change of the state that leaves nothing to do for the function. */
  readonly over?: boolean;
}

/** A question that waits for its answer. */
export interface Pending {
  readonly id: string;
  readonly index: number;
  readonly value: Json;
}

const KIND = 'function';
const decode = createDecoder();

export const toBody = (body: Body): string => encode({ kind: KIND, ...body });

/** Undefined for a checkpoint that another kind of graph saved. */
export function parseBody(text: string): Body | undefined {
  const body = decode(text) as Body & { kind?: unknown };
  return body.kind === KIND ? body : undefined;
}

const NAMESPACE = '2f0c9a54-5f3e-5d3b-9a0e-6b1d4f2f7c11';

/** The function's one task; the same over all runs of a turn. */
export const taskIdOf = (turn: Pick<TurnRecord, 'input'>): string => uuidv5(`task:${turn.input}`, NAMESPACE);

/** 32 hex digits, the same whenever the turn comes to its `index`-th question. */
export const interruptIdOf = (threadId: string, turn: Pick<TurnRecord, 'input'>, index: number): string =>
  uuidv5(`interrupt:${threadId}:${turn.input}:${index}`, NAMESPACE).replaceAll('-', '');

// The channels and indexes that LangGraph uses for the same things.
const ERROR = { channel: '__error__', idx: -1 };
const INTERRUPT = { channel: '__interrupt__', idx: -3 };
const RESUME = { channel: '__resume__', idx: -4 };

/** Whether a question waits on a checkpoint with writes of these channels. */
export const isTurnOpen = (written: readonly string[]): boolean => written.includes(INTERRUPT.channel);

/** Saved in one batch: a question is never recorded without the answers that led to it. */
export function toPauseWrites(
  turn: TurnRecord,
  pending: Omit<Pending, 'value'> & { readonly value: unknown },
  runId: string,
): PendingWrite[] {
  const taskId = taskIdOf(turn);
  const { answers, patches } = turn;
  return [
    { taskId, ...INTERRUPT, data: encode(pending, 'interrupt') },
    { taskId, ...RESUME, data: encode({ runId, answers, patches }) },
  ];
}

export const toErrorWrite = (turn: TurnRecord, message: string): PendingWrite => ({
  taskId: taskIdOf(turn),
  ...ERROR,
  data: encode({ message }),
});

export interface CheckpointNotes {
  readonly pending?: Pending;
  /** Answers recorded with the question, and the run that recorded them. */
  readonly given?: Pick<TurnRecord, 'answers' | 'patches'> & { readonly runId: string };
  readonly error?: string;
}

/** What was written on a checkpoint after it was saved. */
export function parseNotes({ writes }: LoadedCheckpoint): CheckpointNotes {
  const find = (channel: string): unknown => {
    const write = writes.find((each) => each.channel === channel);
    return write && decode(write.data);
  };
  const pending = find(INTERRUPT.channel) as (Omit<Pending, 'value'> & { value: unknown }) | undefined;
  const given = find(RESUME.channel) as CheckpointNotes['given'];
  const error = find(ERROR.channel) as { message: string } | undefined;
  return {
    ...(pending === undefined ? {} : { pending: { ...pending, value: toWire(pending.value) } }),
    ...(given === undefined ? {} : { given }),
    ...(error === undefined ? {} : { error: error.message }),
  };
}
