import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

interface Config {
  readonly configurable?: Record<string, unknown>;
}

const State = Annotation.Root({ done: Annotation<number>(), steps: Annotation<number>() });

/** Notes in the file `ends` when each step ends, by the clock that all processes of the machine share. */
async function step({ done = 0 }: typeof State.State, { configurable = {} }: Config) {
  await pause(Number(configurable['stepMs']));
  const id = `${String(configurable['run_id'])} ${done + 1}`;
  appendFileSync(String(configurable['ends']), `${id} ${process.hrtime.bigint()}\n`);
  return { done: done + 1 };
}

export const steps = new StateGraph(State)
  .addNode('step', step)
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ done, steps: all }) => (done < all ? 'step' : END))
  .compile();
