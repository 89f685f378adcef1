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

/** Maximum wait for the running query, whose graph may never answer. */
const MAX_WAIT_MS = 1_000;

/** Wraps the queries; the answers are equal. `checkpoints` must be the reader of the order's thread. */
export function shareQuestions(
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

type Ask<Order, Answer> = (order: Order, checkpoints: CheckpointReader) => Promise<Answer>;

function share<Order, Answer>(ask: Ask<Order, Answer>, clock: Pick<Clock, 'after'>): Ask<Order, Answer> {
  interface Query {
    readonly settled: Promise<unknown>;
    next?: Promise<Answer>;
  }
  const running = new Map<string, Query>();

  function begin(key: string, order: Order, checkpoints: CheckpointReader): Promise<Answer> {
    const answer = ask(order, checkpoints);
    const settled = answer.then(noop, noop);
    const query: Query = { settled };
    running.set(key, query);
    void settled.then(() => running.get(key) === query && query.next === undefined && running.delete(key));
    return answer;
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
    const query = running.get(key);
    if (query === undefined) return begin(key, order, checkpoints);
    query.next ??= settledOrTimeout(query.settled).then(() => begin(key, order, checkpoints));
    return query.next;
  };
}

const noop = (): void => undefined;
