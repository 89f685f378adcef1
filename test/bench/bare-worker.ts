/** The engine in a thread of a bare server: a text with a message comes in, the text of the state goes out. */
import { parentPort } from 'node:worker_threads';
import { MemorySaver } from '@langchain/langgraph';
import { builder } from './project/echo.ts';

const saver = new MemorySaver();
const graph = builder.compile({ checkpointer: saver });

parentPort!.on('message', async ([id, text]: [number, string]) => {
  const thread_id = crypto.randomUUID();
  const { input } = JSON.parse(text) as { input: { messages: { role: string; content: string }[] } };
  const state = await graph.invoke(input, { configurable: { thread_id } });
  // What it keeps of every thread must not be what is measured.
  await saver.deleteThread(thread_id);
  parentPort!.postMessage([id, JSON.stringify(state)]);
});
