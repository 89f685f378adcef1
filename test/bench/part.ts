/** A process of the benchmark besides the servers: it gets one order, answers it and ends. */
import type { PartOrder } from './figures.ts';

process.once('message', (order: PartOrder) => {
  const done =
    order.kind === 'engine'
      ? import('./engine.ts').then(({ runEngine }) => runEngine(order))
      : order.kind === 'engine-turns'
        ? import('./engine.ts').then(({ runEngineTurns }) => runEngineTurns(order))
        : order.kind === 'sizing'
          ? import('./sizing.ts').then(({ playSizing }) => playSizing(order))
          : import('./load.ts').then(({ carryOut }) => carryOut(order));
  done.then(
    (result) => process.send?.({ result }, () => process.exit(0)),
    (error: unknown) => process.send?.({ error: String(error) }, () => process.exit(1)),
  );
});
