import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', (_state, { configurable }) => ({
    messages: [{ role: 'assistant', content: `for ${configurable.langgraph_auth_user_id}` }],
  }))
  .addEdge(START, 'answer')
  .compile();
