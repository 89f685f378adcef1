import { START, ReducedValue, StateGraph, StateSchema, UntrackedValue } from '@langchain/langgraph';
import { z } from 'zod';

const State = new StateSchema({
  title: z.string().default('untitled'),
  lines: new ReducedValue(
    z.array(z.string()).default(() => []),
    {
      inputSchema: z.string(),
      reducer: (lines: string[], line: string) => [...lines, line],
    },
  ),
  draft: new UntrackedValue(z.string()),
});

export const graph = new StateGraph(State)
  .addNode('write', (state) => ({ lines: `about ${state.title}`, draft: 'a draft' }))
  .addNode('edit', (state) => ({ lines: `from ${state.draft}`, title: state.title.toUpperCase() }))
  .addEdge(START, 'write')
  .addEdge('write', 'edit')
  .compile();
