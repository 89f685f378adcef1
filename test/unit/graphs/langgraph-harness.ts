import { Annotation, interrupt, StateGraph } from '@langchain/langgraph';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';

export const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  answer: Annotation<Json>,
});

/** Nodes a, b, c in a row; `visit` may throw, wait, or ask. */
export const chain = (visit: (node: string) => unknown) => {
  const step = (node: string) => async () => {
    await visit(node);
    return { log: [node] };
  };
  return new StateGraph(Log)
    .addNode('a', step('a'))
    .addNode('b', step('b'))
    .addNode('c', step('c'))
    .addEdge('__start__', 'a')
    .addEdge('a', 'b')
    .addEdge('b', 'c')
    .compile();
};

export const ask = (questions: string[]) =>
  new StateGraph(Log)
    .addNode('ask', () => ({ answer: questions.map((question) => interrupt(question) as Json) }))
    .addEdge('__start__', 'ask')
    .compile();

export const START: JsonObject = { log: [] };
