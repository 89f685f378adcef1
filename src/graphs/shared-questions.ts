/**
 * Questions about a thread's states that several ask at once.
 *
 * S3 A large state is read, made and written once for all who ask for it together. Who asks while the same question is
 * under way may know of something that its answer does not: it is asked once more, for all who have come by then.
 */
import type { Clock } from '../kernel/clock.ts';
import type { JsonText } from '../kernel/json-text.ts';
import { createWeakValues, WORTH_HOLDING } from '../kernel/weak-values.ts';
import type { CheckpointReader, GraphState } from './port.ts';
import type { StateHost } from './state-port.ts';

/** Who asks again waits no longer than so many milliseconds for the answer before: its graph may never give one. */
const MAX_WAIT_MS = 1_000;

/** The same answers. `checkpoints` must be those of the order's thread. */
export function shareQuestions(
  host: Pick<StateHost, 'state' | 'history'>,
  clock: Pick<Clock, 'after'>,
): Pick<StateHost, 'state' | 'history'> {
  const held = createWeakValues<JsonText>();
  /** Values that somebody is still sent need not be there twice. */
  const hold = (threadId: string, state: GraphState): GraphState => {
    const key = `${threadId} ${state.checkpoint?.ns} ${state.checkpoint?.id}`;
    const known = held.get(key);
    if (known?.text === state.values.text) return { ...state, values: known };
    if (state.values.text.length > WORTH_HOLDING) held.set(key, state.values);
    return state;
  };
  return {
    state: share(
      async (order, checkpoints) => hold(order.threadId, await host.state(order, checkpoints)),
      clock,
    ),
    history: share(async (order, checkpoints) => {
      const states = await host.history(order, checkpoints);
      return states === 'too-large' ? states : states.map((state) => hold(order.threadId, state));
    }, clock),
  };
}

type Ask<Order, Answer> = (order: Order, checkpoints: CheckpointReader) => Promise<Answer>;

function share<Order, Answer>(ask: Ask<Order, Answer>, clock: Pick<Clock, 'after'>): Ask<Order, Answer> {
  interface Asked {
    readonly settled: Promise<unknown>;
    next?: Promise<Answer>;
  }
  const asked = new Map<string, Asked>();

  function begin(key: string, order: Order, checkpoints: CheckpointReader): Promise<Answer> {
    const answer = ask(order, checkpoints);
    const settled = answer.then(noop, noop);
    const under: Asked = { settled };
    asked.set(key, under);
    void settled.then(() => asked.get(key) === under && under.next === undefined && asked.delete(key));
    return answer;
  }

  function soon(settled: Promise<unknown>): Promise<void> {
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
    const under = asked.get(key);
    if (under === undefined) return begin(key, order, checkpoints);
    under.next ??= soon(under.settled).then(() => begin(key, order, checkpoints));
    return under.next;
  };
}

const noop = (): void => undefined;
