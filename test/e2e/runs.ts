/** What nearly every test asks of a server. */
import * as assert from 'uvu/assert';
import { collect, type ReceivedFrame } from './frames.ts';
import type { ServerProgram } from './programs.ts';

export const createThread = async (server: ServerProgram): Promise<string> =>
  (await server.ask('POST', '/threads', {})).json.thread_id;

export const createRun = async (server: ServerProgram, thread: string, body: object): Promise<string> => {
  const { status, json } = await server.ask('POST', `/threads/${thread}/runs`, body);
  assert.is(status, 200, JSON.stringify(json));
  return json.run_id;
};

export const joinRun = async (server: ServerProgram, thread: string, run: string) =>
  (await server.ask('GET', `/threads/${thread}/runs/${run}/join`)).json;

export const framesOf = async (
  server: ServerProgram,
  thread: string,
  run: string,
): Promise<ReceivedFrame[]> =>
  (await collect(await server.open('GET', `/threads/${thread}/runs/${run}/stream`))).frames;
