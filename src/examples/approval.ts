/**
 * A LangGraph.js graph that asks for approval before it acts. The run ends at the question; a second run with
 * `command: { resume: true }` (or `{ approved: false, reason: '…' }`) continues.
 */
import { Annotation, interrupt, StateGraph } from '@langchain/langgraph';

interface Answer {
  approved: boolean;
  reason?: string;
}

const State = Annotation.Root({
  request: Annotation<string>,
  answer: Annotation<Answer>,
  result: Annotation<string>,
});

export const graph = new StateGraph(State)
  .addNode('ask', ({ request }) => {
    const answer = interrupt<unknown, Answer | boolean>({ question: 'May I do this?', request });
    return { answer: typeof answer === 'object' ? answer : { approved: answer } };
  })
  .addNode('act', ({ request }) => ({ result: `done: ${request}` }))
  .addNode('refuse', ({ answer }) => ({ result: `refused: ${answer.reason ?? 'no reason given'}` }))
  .addEdge('__start__', 'ask')
  .addConditionalEdges('ask', ({ answer }) => (answer.approved ? 'act' : 'refuse'), ['act', 'refuse'])
  .compile();
