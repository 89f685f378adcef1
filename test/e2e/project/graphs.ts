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

/** The same as a graph of three nodes: the gate is in the node that asks. */
const asking = (hear: (answer: string, config: LangGraphRunnableConfig) => Promise<string>) =>
  new StateGraph(Answered)
    .addNode('before', () => ({ log: ['before'] }))
    .addNode('ask', async (_, config) => {
      const answer = await hear(String(interrupt({ question: 'go on?' })), config);
      await markAndWait(`answered ${answer}`, config);
      return { log: [answer] };
    })
    .addNode('after', () => ({ log: ['after'] }))
    .addEdge('__start__', 'before')
    .addEdge('before', 'ask')
    .addEdge('ask', 'after')
    .compile();

const inner = new StateGraph(Answered)
  .addNode('hear', () => ({}))
  .addEdge('__start__', 'hear')
  .compile();

export const answersNode = asking(async (answer) => answer);
/** With the answer works a subgraph, whose checkpoints say nothing of the node around it. */
export const answersAround = asking(
  async (answer, config) => (await inner.invoke({ log: [answer] }, config)).log[0]!,
);
