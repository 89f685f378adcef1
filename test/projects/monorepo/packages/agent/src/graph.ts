import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { politely, type Phrase } from '@acme/words';
import { Tone } from '@acme/words/tone';
import { shout } from './shout.js';

const State = Annotation.Root({ phrase: Annotation<Phrase>(), tone: Annotation<Tone>() });

export const graph = new StateGraph(State)
  .addNode('polish', (state) => ({ phrase: politely(state.phrase), tone: Tone.Calm }))
  .addNode('shout', (state) => ({ phrase: shout(state.phrase) }))
  .addEdge(START, 'polish')
  .addEdge('polish', 'shout')
  .compile();
