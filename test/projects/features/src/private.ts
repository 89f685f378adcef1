import { Annotation, START, StateGraph } from '@langchain/langgraph';

const Input = Annotation.Root({ question: Annotation<string>() });
const Output = Annotation.Root({ answer: Annotation<string>() });
const State = Annotation.Root({ ...Input.spec, ...Output.spec, thought: Annotation<string>() });

/** Clients give a question and get an answer; what is thought in between is the graph's own. */
export const graph = new StateGraph({ stateSchema: State, input: Input, output: Output })
  .addNode('think', (state: { question: string }) => ({ thought: `about ${state.question}` }))
  .addNode('reply', (state: typeof State.State) => ({ answer: `${state.question}? ${state.thought}!` }))
  .addEdge(START, 'think')
  .addEdge('think', 'reply')
  .compile();
