/** Steps that leave a mark each; the last one kills the server once, some time after it began. */
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

interface Config {
  configurable?: Record<string, unknown>;
}

const State = Annotation.Root({ done: Annotation<number>(), steps: Annotation<number>() });

async function work({ done = 0, steps }: typeof State.State, { configurable = {} }: Config) {
  const [marks, name] = [String(configurable['marks']), String(configurable['name'])];
  const step = done + 1;
  appendFileSync(marks, `${name} ${step}\n`);
  const killed = `${name} killed`;
  if (step < steps) await later(Number(configurable['stepMs']));
  else if (!readFileSync(marks, 'utf8').split('\n').includes(killed)) {
    await later(Number(configurable['killMs']));
    appendFileSync(marks, `${killed}\n`);
    process.kill(process.ppid, 'SIGKILL');
    await new Promise(() => undefined);
  }
  return { done: step };
}

export const graph = new StateGraph(State)
  .addNode('work', work)
  .addEdge(START, 'work')
  .addConditionalEdges('work', ({ done, steps }) => (done < steps ? 'work' : END))
  .compile();
