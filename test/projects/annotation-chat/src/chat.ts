import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { ScriptedModel, lastText } from 'scripted-model';

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  topics: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  turns: Annotation<number>(),
});

const model = new ScriptedModel(
  (messages: any[]) => `${process.env.GREETING}, you said ${lastText(messages, 'human')}`,
);

async function classify(state: typeof State.State, config: LangGraphRunnableConfig) {
  config.writer?.({ progress: 'classifying' });
  const text = String(state.messages.at(-1)!.content);
  return { topics: [text.includes('weather') ? 'weather' : 'other'], turns: (state.turns ?? 0) + 1 };
}

async function answer(state: typeof State.State) {
  return { messages: [await model.invoke(state.messages)] };
}

const weather = () => ({ messages: [{ role: 'assistant', content: 'It is sunny.', id: 'fixed-answer' }] });

export const graph = new StateGraph(State)
  .addNode('classify', classify)
  .addNode('answer', answer)
  .addNode('weather', weather)
  .addEdge(START, 'classify')
  .addConditionalEdges('classify', (state) => (state.topics.at(-1) === 'weather' ? 'weather' : 'answer'), [
    'weather',
    'answer',
  ])
  .addEdge('answer', END)
  .addEdge('weather', END)
  .compile();
