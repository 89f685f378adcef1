import { Annotation, START, StateGraph } from '@langchain/langgraph';

export const graph = new StateGraph(Annotation.Root({ seen: Annotation<Record<string, unknown>>() }))
  .addNode('look', (_state, { configurable }) => ({
    seen: {
      env: process.env.FROM_FILE,
      color: configurable?.['x-color'] ?? null,
      other: configurable?.['x-other'] ?? null,
      user: configurable?.langgraph_auth_user?.identity ?? null,
    },
  }))
  .addEdge(START, 'look')
  .compile();
