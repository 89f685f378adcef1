/** Delivers kept answers with all their chunks at once. Those asked for in one turn come in the order in which they ended. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { KeptCall } from './kept-calls.ts';
import { fromFailure } from './replies.ts';
import type { Exchange, Receiver } from './session.ts';

const { setImmediate: realImmediate } = globalThis;

/** `exchange` records what is delivered. Returns what to call when the code breaks off. */
type Deliver = (call: KeptCall, exchange: Exchange | undefined, to: Receiver) => () => void;

export function openDelivery(): Deliver {
  let due: { readonly ended: number; readonly deliver: () => void }[] = [];

  function deliverSoon(ended: number, deliver: () => void): void {
    const inContext = AsyncLocalStorage.snapshot();
    if (due.push({ ended, deliver: () => inContext(deliver) }) > 1) return;
    realImmediate(() => {
      const arrived = due.sort((a, b) => a.ended - b.ended);
      due = [];
      for (const each of arrived) each.deliver();
    });
  }

  return ({ ended, answer, failure, body }, exchange, to) => {
    let isDropped = false;
    function* parts(): Generator<() => void> {
      if (answer !== undefined) {
        exchange?.answered(answer.status, answer.statusText, answer.headers);
        yield () => to.head(answer);
        let at = 0;
        for (const bytes of answer.chunks) {
          const chunk = Buffer.from(body.subarray(at, (at += bytes)));
          exchange?.received(chunk);
          yield () => to.data(chunk);
        }
      }
      exchange?.ended(failure);
      yield failure === undefined ? () => to.completed() : () => to.failed(fromFailure(failure));
    }
    deliverSoon(ended, () => {
      for (const part of parts()) {
        if (isDropped) return;
        part();
      }
    });
    return () => {
      isDropped = true;
      exchange?.aborted();
    };
  };
}
