import { Annotation, START, StateGraph } from '@langchain/langgraph';

export const graph = new StateGraph(
  Annotation.Root({ name: Annotation<string>(), token: Annotation<number>() }),
)
  .addNode('look', (_state, { configurable }) => ({
    name: configurable?.langgraph_auth_user?.identity,
    token: configurable?.langgraph_auth_user?.token?.length,
  }))
  .addEdge(START, 'look')
  .compile();
