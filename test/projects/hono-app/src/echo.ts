import { Annotation, START, StateGraph } from '@langchain/langgraph';

export const graph = new StateGraph(Annotation.Root({ said: Annotation<string>(), by: Annotation<string>() }))
  .addNode('echo', (state, config) => ({
    said: `echo: ${state.said}`,
    by: String(config.configurable?.['x-tenant'] ?? 'unknown'),
  }))
  .addEdge(START, 'echo')
  .compile();
