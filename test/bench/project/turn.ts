import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

type State = typeof MessagesAnnotation.State;

const STEPS = 10;

/** The messages since the last one of a person. */
const since = ({ messages }: State): number =>
  messages.length - 1 - messages.findLastIndex((message) => message instanceof HumanMessage);

/** An agent's turn: a model and a tool, five times each. */
export const turn = new StateGraph(MessagesAnnotation)
  .addNode('model', (state) => ({ messages: [new AIMessage(`what I think in step ${since(state)}`)] }))
  .addNode('tool', (state) => ({ messages: [new AIMessage(`what the tool says in step ${since(state)}`)] }))
  .addEdge(START, 'model')
  .addConditionalEdges('model', (state) => (since(state) < STEPS ? 'tool' : END))
  .addConditionalEdges('tool', (state) => (since(state) < STEPS ? 'model' : END))
  .compile();
