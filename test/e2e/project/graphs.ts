/** Graphs that tell through a marks file how far they have got, and wait there for the file `gate`. */
import { Annotation, interrupt, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';
import { appendFileSync, existsSync } from 'node:fs';

interface Config {
  configurable: Record<string, unknown>;
  signal: AbortSignal;
  interrupt(value: unknown): unknown;
}

async function markAndWait(text: string, { configurable, signal }: LangGraphRunnableConfig): Promise<void> {
  const { marks, gate } = configurable as { marks: string; gate: string };
  appendFileSync(marks, `${text}\n`);
  while (!existsSync(gate)) {
    signal?.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Leaves a mark when its signal fires. */
export async function* listens(_state: unknown, config: Config) {
  const onAbort = () =>
    appendFileSync(String(config.configurable['marks']), `told: ${config.signal.reason}\n`);
  config.signal.addEventListener('abort', onAbort);
  yield { done: ['first'] };
  await markAndWait('waits', config);
  yield { done: ['first', 'second'] };
  config.signal.removeEventListener('abort', onAbort);
}

/** Asks, and goes on only behind the gate. */
export async function* answers(_state: unknown, config: Config) {
  const answer = config.interrupt({ question: 'go on?' });
  await markAndWait(`answered ${String(answer)}`, config);
  yield { answer, times: 1 };
}

const Answered = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

/** The same as a graph of three nodes: the gate is in the node that asks and in the one after it. */
export const answersNode = new StateGraph(Answered)
  .addNode('before', () => ({ log: ['before'] }))
  .addNode('ask', async (_, config) => {
    const answer = String(interrupt({ question: 'go on?' }));
    await markAndWait(`answered ${answer}`, config);
    return { log: [answer] };
  })
  .addNode('after', () => ({ log: ['after'] }))
  .addEdge('__start__', 'before')
  .addEdge('before', 'ask')
  .addEdge('ask', 'after')
  .compile();
