/**
 * Coalesces concurrent state queries of the same thread.
 *
 * S3 A large state is read and serialised once for all concurrent callers. A call during a running query may expect a
 * newer state, so one further query runs afterwards and serves all calls that arrived meanwhile.
 */
import type { Clock } from '../kernel/clock.ts';
import type { JsonText } from '../kernel/json-text.ts';
import { createWeakValues, WORTH_HOLDING } from '../kernel/weak-values.ts';
import type { CheckpointReader, GraphState } from './port.ts';
import type { StateHost } from './state-port.ts';

/** Maximum wait for the running query, whose graph may never reply. */
const MAX_WAIT_MS = 1_000;

/** Wraps the queries; the results are equal. `checkpoints` must be the reader of the order's thread. */
export function shareQueries(
  host: Pick<StateHost, 'state' | 'history'>,
  clock: Pick<Clock, 'after'>,
): Pick<StateHost, 'state' | 'history'> {
  const held = createWeakValues<JsonText>();
  /** Reuses the values object of an equal state that is still referenced. */
  const dedupe = (threadId: string, state: GraphState): GraphState => {
    const key = `${threadId} ${state.checkpoint?.ns} ${state.checkpoint?.id}`;
    const known = held.get(key);
    if (known?.text === state.values.text) return { ...state, values: known };
    if (state.values.text.length > WORTH_HOLDING) held.set(key, state.values);
    return state;
  };
  return {
    state: share(
      async (order, checkpoints) => dedupe(order.threadId, await host.state(order, checkpoints)),
      clock,
    ),
    history: share(async (order, checkpoints) => {
      const states = await host.history(order, checkpoints);
      return states === 'too-large' ? states : states.map((state) => dedupe(order.threadId, state));
    }, clock),
  };
}

type Query<Order, Result> = (order: Order, checkpoints: CheckpointReader) => Promise<Result>;

function share<Order, Result>(
  query: Query<Order, Result>,
  clock: Pick<Clock, 'after'>,
): Query<Order, Result> {
  interface Running {
    readonly settled: Promise<unknown>;
    next?: Promise<Result>;
  }
  const running = new Map<string, Running>();

  function begin(key: string, order: Order, checkpoints: CheckpointReader): Promise<Result> {
    const result = query(order, checkpoints);
    const settled = result.then(noop, noop);
    const own: Running = { settled };
    running.set(key, own);
    void settled.then(() => running.get(key) === own && own.next === undefined && running.delete(key));
    return result;
  }

  function settledOrTimeout(settled: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(MAX_WAIT_MS, resolve);
      void settled.then(() => {
        cancel();
        resolve();
      });
    });
  }

  return (order, checkpoints) => {
    const key = JSON.stringify(order);
    const current = running.get(key);
    if (current === undefined) return begin(key, order, checkpoints);
    current.next ??= settledOrTimeout(current.settled).then(() => begin(key, order, checkpoints));
    return current.next;
  };
}

const noop = (): void => undefined;
