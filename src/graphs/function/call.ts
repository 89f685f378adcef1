/**
 * Calls the user's function and goes through what it yields. A turn is called anew after every answer and after every
 * crash; what it has done before is recognised by counting: the first `done` updates are skipped, answers are given in
 * the order of the questions, and the writer is silent until new ground is reached.
 */
import type { RunOrder } from '../port.ts';
import type { GraphStore } from '../store.ts';
import { toRunConfig } from '../run-config.ts';

export interface Replay {
  readonly done: number;
  readonly answers: readonly unknown[];
  readonly silentAnswers: number;
}

export interface CallHandlers {
  /** An update that is not skipped; the function goes on when this resolves. */
  update(value: unknown): Promise<void>;
  custom(chunk: unknown): void;
  /** Resolves when the function may write more. */
  ready(): Promise<void>;
  /** What the function finds as `config.store`. */
  readonly store: GraphStore;
}

export interface Question {
  readonly index: number;
  readonly value: unknown;
}

export interface Call {
  /** The second argument of the function. */
  readonly config: Record<string, unknown>;
  /** The question that the function stopped at so far. */
  question(): Question | undefined;
  /** Goes through the function's result; resolves with the question at which it stopped, if it did. */
  drain(result: () => unknown): Promise<Question | undefined>;
}

/** Thrown into the function to leave it; code that catches it is stopped at its next step all the same. */
class Paused extends Error {
  override readonly name = 'Paused';
}

export function openCall(order: RunOrder, replay: Replay, signal: AbortSignal, handlers: CallHandlers): Call {
  let skipped = 0;
  let asked = 0;
  let question: Question | undefined;

  const isReplaying = (): boolean => skipped < replay.done || asked < replay.silentAnswers;
  const onUpdate = async (value: unknown): Promise<void> => {
    if (value === undefined || value === null) return;
    if (skipped < replay.done) skipped += 1;
    else await handlers.update(value);
  };
  const interrupt = (value: unknown): unknown => {
    const index = asked;
    if (question === undefined && index < replay.answers.length) {
      asked += 1;
      return structuredClone(replay.answers[index]);
    }
    question ??= { index, value };
    throw new Paused('The run waits for an answer');
  };

  return {
    config: {
      ...toRunConfig(order),
      ...(order.context === undefined ? {} : { context: order.context }),
      tags: [...(order.config.tags ?? [])],
      signal,
      runId: order.runId,
      threadId: order.threadId,
      attempt: order.attempt,
      writer: (chunk: unknown): Promise<void> => {
        if (!isReplaying() && question === undefined) handlers.custom(chunk);
        return handlers.ready();
      },
      interrupt,
      store: handlers.store,
    },
    question: () => question,
    async drain(result) {
      try {
        const value = await result();
        const steps = toSteps(value);
        if (steps !== undefined) await walk(steps);
        else if (question === undefined) await onUpdate(value);
      } catch (error) {
        if (question === undefined) throw error;
      }
      return question;
    },
  };

  async function walk(steps: Steps): Promise<void> {
    const leave = (): void => void leaveSteps(steps);
    signal.addEventListener('abort', leave, { once: true });
    try {
      for (let done: boolean | undefined = false; done !== true;) {
        const step = await steps.next();
        if (question !== undefined) return;
        // Anything else would never be done.
        if (typeof step !== 'object' || step === null)
          throw new TypeError(
            `The graph's iterator gave ${typeof step} where an object with value and done belongs`,
          );
        // An update that is returned at the end counts like one that is yielded.
        await onUpdate(await step.value);
        done = step.done;
      }
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }
}

type Steps = AsyncIterator<unknown> | Iterator<unknown>;

function toSteps(value: unknown): Steps | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const source = value as Partial<AsyncIterable<unknown> & Generator<unknown>>;
  if (typeof source[Symbol.asyncIterator] === 'function') return source[Symbol.asyncIterator]?.();
  // Of the synchronous kinds only generators: lists and maps are values.
  return typeof source.next === 'function' && typeof source[Symbol.iterator] === 'function'
    ? source[Symbol.iterator]?.()
    : undefined;
}

/** Lets the function run its `finally` blocks; the attempt is over, so nobody is left to hear of their faults. */
async function leaveSteps(steps: Steps): Promise<void> {
  try {
    await steps.return?.();
  } catch {
    return;
  }
}
