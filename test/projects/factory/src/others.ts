import { Annotation, START, StateGraph } from '@langchain/langgraph';

const build = (word: string) =>
  new StateGraph(Annotation.Root({ said: Annotation<string>() }))
    .addNode('say', ({ said }) => ({ said: `${said} ${word}` }))
    .addEdge(START, 'say');

/** A parameter with a name of the author's own, and a builder that nobody has compiled. */
export default async (cfg: { configurable?: { word?: string } }) =>
  build(cfg.configurable?.word ?? 'nothing');

let count = 0;

/** Without a parameter. */
export function once() {
  count += 1;
  return build(count > 0 ? 'made' : 'never').compile();
}
