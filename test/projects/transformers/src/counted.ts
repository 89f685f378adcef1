import { Annotation, START, StateGraph, StreamChannel } from '@langchain/langgraph';
import type { ProtocolEvent } from '@langchain/langgraph';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

/** Tells how many updates there have been, on a channel that clients can subscribe to. */
const countUpdates = () => {
  const counts = StreamChannel.remote<{ updates: number }>('counts');
  let updates = 0;
  return {
    init: () => ({ counts }),
    process(event: ProtocolEvent) {
      if (event.method === 'updates') counts.push({ updates: (updates += 1) });
      return true;
    },
  };
};

export const graph = new StateGraph(State)
  .addNode('first', () => ({ log: ['first'] }))
  .addNode('second', () => ({ log: ['second'] }))
  .addEdge(START, 'first')
  .addEdge('first', 'second')
  .compile({ transformers: [countUpdates] });
