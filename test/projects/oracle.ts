/**
 * `oracle.ts ORDER RESULT`, copied into a line's folder: follows a scenario with the library alone, its memory saver
 * and its memory store, and writes what each step shows to the file RESULT. ORDER is a JSON file with
 * `{ scenarios: [{ file, exportName, steps }], modes }`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { Command, InMemoryStore, MemorySaver } from '@langchain/langgraph';
import { toChunk, toPlain, toPlainState } from './plain-form.ts';

const [orderFile, resultFile] = process.argv.slice(2);
const order = JSON.parse(readFileSync(orderFile!, 'utf8'));
const all: unknown[][] = [];
for (const scenario of order.scenarios) all.push(await followAll(scenario));
writeFileSync(resultFile!, JSON.stringify(all));
// A project may hold connections that never end.
process.exit(0);

async function followAll({ file, exportName, steps }: any): Promise<unknown[]> {
  const exported = await (await import(pathToFileURL(file).href))[exportName];
  const follow = openFollower(exported);
  const shown: unknown[] = [];
  for (const step of steps) shown.push((await follow(step)) ?? null);
  return shown;
}

function openFollower(exported: any): (step: any) => Promise<unknown> {
  const checkpointer = new MemorySaver();
  const store = new InMemoryStore();
  const threads = new Map<string, string>();
  const histories = new Map<string, any[]>();

  const threadOf = (step: any): string => {
    const name: string = step.thread ?? 'main';
    if (!threads.has(name)) threads.set(name, crypto.randomUUID());
    return threads.get(name)!;
  };

  async function graphFor(config: unknown): Promise<any> {
    let graph = exported;
    const isFactory = typeof graph === 'function';
    if (isFactory) graph = await graph(config, config);
    if (typeof graph.compile === 'function') graph = graph.compile();
    if (!('streamMode' in graph) && graph.graph !== undefined) graph = graph.graph;
    Object.assign(graph, { checkpointer, store });
    return graph;
  }

  function configOf(step: any): any {
    const from = step.from === undefined ? undefined : histories.get(step.thread ?? 'main')![step.from];
    return {
      configurable: {
        ...step.configurable,
        thread_id: threadOf(step),
        ...(from !== undefined && {
          checkpoint_id: from.config.configurable.checkpoint_id,
          checkpoint_ns: '',
        }),
      },
      ...(step.context !== undefined && { context: step.context }),
      ...(step.recursionLimit !== undefined && { recursionLimit: step.recursionLimit }),
      ...(step.interruptBefore !== undefined && { interruptBefore: step.interruptBefore }),
      ...(step.interruptAfter !== undefined && { interruptAfter: step.interruptAfter }),
    };
  }

  async function inputOf(step: any, graph: any, config: any): Promise<unknown> {
    let { resume } = step;
    if (step.answers !== undefined) {
      const { tasks } = await graph.getState(config);
      const waiting = tasks.flatMap((task: any) => task.interrupts);
      const inOrder = waiting.sort((a: any, b: any) =>
        JSON.stringify(a.value) < JSON.stringify(b.value) ? -1 : 1,
      );
      resume = Object.fromEntries(inOrder.map(({ id }: any, i: number) => [id, step.answers[i]]));
    }
    const { goto, update } = step;
    if (resume === undefined && goto === undefined && update === undefined) return step.input ?? null;
    return new Command({
      ...(resume !== undefined && { resume }),
      ...(goto !== undefined && { goto }),
      ...(update !== undefined && { update }),
    } as any);
  }

  async function run(step: any): Promise<unknown> {
    const config = configOf(step);
    const graph = await graphFor(config);
    const input = await inputOf(step, graph, config);
    const chunks: unknown[] = [];
    // Deliberate: the server tells a question with the state beside it.
    let shown: any;
    const withState = (payload: any): unknown => {
      if (payload?.__interrupt__ === undefined) shown = payload;
      return payload?.__interrupt__?.length > 0 ? { ...shown, ...payload } : payload;
    };
    try {
      const streamMode = step.modes ?? order.modes;
      const stream = await graph.stream(input, { ...config, streamMode, subgraphs: step.subgraphs === true });
      for await (const chunk of stream) {
        const [namespace, mode, payload] = step.subgraphs === true ? chunk : [[], ...chunk];
        const told = mode === 'values' && namespace.length === 0 ? withState(payload) : payload;
        chunks.push([[mode, ...namespace].join('|'), toChunk(mode, told)]);
      }
    } catch (error: any) {
      chunks.push(['error', { error: error.name, message: error.message }]);
    }
    return chunks;
  }

  async function follow(step: any): Promise<unknown> {
    const config = configOf(step);
    switch (step.do) {
      case 'run':
        return run(step);
      case 'heard': {
        const graph = await graphFor(config);
        const input = await inputOf(step, graph, config);
        const texts = new Map<string, string>();
        for await (const [message] of await graph.stream(input, { ...config, streamMode: 'messages' }))
          if (message.getType() === 'ai')
            texts.set(message.id, (texts.get(message.id) ?? '') + message.content);
        return [...texts.values()];
      }
      case 'events': {
        const graph = await graphFor(config);
        const input = await inputOf(step, graph, config);
        const names: string[] = [];
        const runId = crypto.randomUUID();
        for await (const event of graph.streamEvents(input, { ...config, runId, version: 'v2' })) {
          // The platform shows a chunk of the graph itself as the frame of its mode, and no events of the runtime.
          const isChunk = event.event === 'on_chain_stream' && event.run_id === runId;
          if (!isChunk && !event.tags?.includes('langsmith:hidden'))
            names.push(`${event.event} ${event.name}`);
        }
        return names;
      }
      case 'wait':
      case 'killed': {
        const graph = await graphFor(config);
        return toPlain(await lastValues(graph, await inputOf(step, graph, config), config));
      }
      case 'state': {
        const graph = await graphFor(config);
        return toPlainState(await graph.getState(config, { subgraphs: step.subgraphs === true }));
      }
      case 'history': {
        const graph = await graphFor(config);
        const states: any[] = [];
        for await (const state of graph.getStateHistory(config)) states.push(state);
        histories.set(step.thread ?? 'main', states);
        return states.map(toPlainState);
      }
      case 'update':
        return void (await (await graphFor(config)).updateState(config, step.values, step.asNode));
      case 'items':
        return toPlain(
          (await store.search(step.namespace)).map(({ namespace, key, value }) => ({
            namespace,
            key,
            value,
          })),
        );
      default:
        return undefined;
    }
  }

  return follow;
}

/** What stream mode `values` shows last; questions of the step stand beside it. */
async function lastValues(graph: any, input: unknown, config: object): Promise<unknown> {
  let last: any;
  for await (const chunk of await graph.stream(input, { ...config, streamMode: 'values' })) {
    const isQuestion = Object.keys(chunk ?? {}).join() === '__interrupt__';
    last = isQuestion ? { ...last, ...chunk } : chunk;
  }
  return last;
}
