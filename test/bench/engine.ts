/** The graph engine alone, in this process, with its own saver in memory: what a server around it cannot exceed. */
import { setTimeout as pause } from 'node:timers/promises';
import { HumanMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph';
import { toFigure, type EngineOrder, type EngineTurnsOrder, type Figure, type Turns } from './figures.ts';
import { builder } from './project/echo.ts';
import { untilWarm } from './warm.ts';

export async function runEngine({ lanes, seconds, restMs = 0 }: EngineOrder): Promise<Figure> {
  const run = async (ms: number): Promise<Figure> => {
    // Anew: what it keeps of every thread must not be what is measured.
    const graph = builder.compile({ checkpointer: new MemorySaver() });
    const times: number[] = [];
    const began = performance.now();
    const cpu = process.cpuUsage();
    const lane = async (): Promise<void> => {
      while (performance.now() < began + ms) {
        const from = performance.now();
        const messages = [new HumanMessage('hello')];
        await graph.invoke({ messages }, { configurable: { thread_id: crypto.randomUUID() } });
        times.push(performance.now() - from);
        if (restMs > 0) await pause(restMs);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    const { user, system } = process.cpuUsage(cpu);
    const cpuMs = (user + system) / 1000 / times.length;
    return { ...toFigure(times, performance.now() - began), cpuMs };
  };
  await untilWarm(async (ms) => (await run(ms)).perSecond);
  return run(seconds * 1000);
}

/** One conversation, turn after turn. */
export async function runEngineTurns({ turns }: EngineTurnsOrder): Promise<Turns> {
  const graph = builder.compile({ checkpointer: new MemorySaver() });
  const times: number[] = [];
  for (const thread_id of ['warm', 'measured'])
    for (let i = 0; i < (thread_id === 'warm' ? 200 : turns); i++) {
      const from = performance.now();
      await graph.invoke({ messages: [new HumanMessage('hello')] }, { configurable: { thread_id } });
      if (thread_id === 'measured') times.push(performance.now() - from);
    }
  return times;
}
