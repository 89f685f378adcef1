/**
 * Calls the user's function and iterates its updates. After each resume and each crash the function is called again with
 * the same state. Earlier work is recognised by counting: the first `done` updates are skipped, `interrupt()` returns the
 * recorded resume values in order, and the writer emits nothing until the replay is over.
 */
import type { RunOrder } from '../port.ts';
import type { GraphStore } from '../store.ts';
import { callKeyOf } from '../../recording/call-keys.ts';
import { toRunConfig } from '../run-config.ts';

export interface Replay {
  readonly done: number;
  readonly resumeValues: readonly unknown[];
  readonly silentResumes: number;
}

export interface CallHandlers {
  /** Handles an update that is not skipped; the function continues when it resolves. */
  update(value: unknown): Promise<void>;
  /** Called before the first update of a generator. */
  yields(): void;
  /** Called before the function continues behind an update; throws when it may not. */
  goOn(): void;
  custom(chunk: unknown): void;
  /** Back-pressure: resolves when the function may write more. */
  ready(): Promise<void>;
  /** The store in `config.store`. */
  readonly store: GraphStore;
}

export interface RaisedInterrupt {
  readonly index: number;
  readonly value: unknown;
}

export interface Call {
  /** The config that the function gets as its second argument. */
  readonly config: Record<string, unknown>;
  /** The interrupt that the function stopped at, if any. */
  stoppedAt(): RaisedInterrupt | undefined;
  /** Iterates the function's result; resolves with the interrupt that it stopped at, if any. */
  drain(result: () => unknown): Promise<RaisedInterrupt | undefined>;
}

/** Thrown by `interrupt()` to leave the function. A function that catches it is stopped at its next step. */
class Paused extends Error {
  override readonly name = 'Paused';
}

export function openCall(order: RunOrder, replay: Replay, signal: AbortSignal, handlers: CallHandlers): Call {
  let skipped = 0;
  let asked = 0;
  let stoppedAt: RaisedInterrupt | undefined;

  const given = toRunConfig(order);
  let callKey: string | undefined;

  const isReplaying = (): boolean => skipped < replay.done || asked < replay.silentResumes;
  const onUpdate = async (value: unknown): Promise<void> => {
    if (value === undefined || value === null) return;
    if (skipped < replay.done) skipped += 1;
    else await handlers.update(value);
  };
  const interrupt = (value: unknown): unknown => {
    const index = asked;
    if (stoppedAt === undefined && index < replay.resumeValues.length) {
      asked += 1;
      return structuredClone(replay.resumeValues[index]);
    }
    stoppedAt ??= { index, value };
    throw new Paused('The run waits for an answer');
  };

  return {
    config: {
      ...given,
      metadata: {
        ...given.metadata,
        get call_key() {
          return (callKey ??= callKeyOf(order.runId, ''));
        },
      },
      ...(order.context === undefined ? {} : { context: order.context }),
      tags: [...(order.config.tags ?? [])],
      signal,
      runId: order.runId,
      threadId: order.threadId,
      attempt: order.attempt,
      writer: (chunk: unknown): Promise<void> => {
        if (!isReplaying() && stoppedAt === undefined) handlers.custom(chunk);
        return handlers.ready();
      },
      interrupt,
      store: handlers.store,
    },
    stoppedAt: () => stoppedAt,
    async drain(result) {
      try {
        const value = await result();
        const steps = toSteps(value);
        if (steps !== undefined) await walk(steps);
        else if (stoppedAt === undefined) await onUpdate(value);
      } catch (error) {
        if (stoppedAt === undefined) throw error;
      }
      return stoppedAt;
    },
  };

  async function walk(steps: Steps): Promise<void> {
    const onAbort = (): void => void closeSteps(steps);
    signal.addEventListener('abort', onAbort, { once: true });
    handlers.yields();
    try {
      for (let done: boolean | undefined = false; done !== true;) {
        const step = await steps.next();
        if (stoppedAt !== undefined) return;
        // A value without `done` would make the loop endless.
        if (typeof step !== 'object' || step === null)
          throw new TypeError(
            `The graph's iterator gave ${typeof step} where an object with value and done belongs`,
          );
        // A generator's return value is an update like a yielded one.
        await onUpdate(await step.value);
        done = step.done;
        if (done !== true) handlers.goOn();
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}

type Steps = AsyncIterator<unknown> | Iterator<unknown>;

function toSteps(value: unknown): Steps | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const source = value as Partial<AsyncIterable<unknown> & Generator<unknown>>;
  if (typeof source[Symbol.asyncIterator] === 'function') return source[Symbol.asyncIterator]?.();
  // A synchronous iterable counts only if it is a generator; arrays and maps are values.
  return typeof source.next === 'function' && typeof source[Symbol.iterator] === 'function'
    ? source[Symbol.iterator]?.()
    : undefined;
}

/** Runs the generator's `finally` blocks. Their errors are ignored, because the attempt is over. */
async function closeSteps(steps: Steps): Promise<void> {
  try {
    await steps.return?.();
  } catch {
    return;
  }
}
