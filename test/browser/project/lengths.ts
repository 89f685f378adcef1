/** Fails at its only node: the name of a member is misspelt. */
import { Annotation, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  question: Annotation<string>,
  words: Annotation<string[]>,
  lengths: Annotation<string[]>,
});

interface Word {
  length: number;
  lenght?: number;
}

const lengthsOf = (words: readonly Word[]) => words.map((word) => word.lenght!.toFixed());

export const graph = new StateGraph(State)
  .addNode('split', ({ question }) => {
    console.log('splitting', question);
    return { words: question.split(' ') };
  })
  .addNode('measure', ({ words }) => ({ lengths: lengthsOf(words as unknown as Word[]) }))
  .addEdge('__start__', 'split')
  .addEdge('split', 'measure')
  .compile();
