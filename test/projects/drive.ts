/** Follows a scenario through the official client. */
import { Client } from '@langchain/langgraph-sdk';
import type { ServerProgram } from '../e2e/programs.ts';
import type { Mode, Scenario, Step } from './steps.ts';

export interface Driver {
  follow(step: Step): Promise<unknown>;
}

export interface Lives {
  server(): ServerProgram;
  /** Kills the server and starts another one on its log. */
  again(): Promise<void>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Untyped where the client's types would need a cast: the shapes are what the comparison is about. */
export function openDriver({ graph }: Scenario, modes: readonly Mode[], lives: Lives): Driver {
  const threads = new Map<string, Promise<string>>();
  const histories = new Map<string, any[]>();
  const client = (): Client =>
    new Client({ apiUrl: lives.server().url, defaultHeaders: { ...lives.headers } });
  const threadOf = (step: any): Promise<string> => {
    const name: string = step.thread ?? 'main';
    const known =
      threads.get(name) ??
      client()
        .threads.create()
        .then(({ thread_id: id }) => id);
    threads.set(name, known);
    return known;
  };

  async function payloadOf(step: any, thread: string): Promise<any> {
    let { resume } = step;
    if (step.answers !== undefined) {
      const { tasks } = await client().threads.getState(thread);
      const waiting: any[] = tasks.flatMap((task) => task.interrupts);
      const inOrder = waiting.sort((a, b) => (JSON.stringify(a.value) < JSON.stringify(b.value) ? -1 : 1));
      resume = Object.fromEntries(inOrder.map(({ id }, i) => [id, step.answers[i]]));
    }
    const { goto, update } = step;
    const isCommand = resume !== undefined || goto !== undefined || update !== undefined;
    const from = step.from === undefined ? undefined : histories.get(step.thread ?? 'main')![step.from];
    return {
      ...(isCommand
        ? {
            command: {
              ...(resume !== undefined && { resume }),
              ...(goto !== undefined && { goto }),
              ...(update !== undefined && { update }),
            },
          }
        : { input: step.input ?? null }),
      config: {
        ...(step.configurable !== undefined && { configurable: step.configurable }),
        ...(step.recursionLimit !== undefined && { recursion_limit: step.recursionLimit }),
      },
      ...(step.context !== undefined && { context: step.context }),
      ...(step.interruptBefore !== undefined && { interruptBefore: step.interruptBefore }),
      ...(step.interruptAfter !== undefined && { interruptAfter: step.interruptAfter }),
      ...(from !== undefined && {
        checkpoint: { checkpoint_id: from.checkpoint.checkpoint_id, checkpoint_ns: '' },
      }),
    };
  }

  async function run(step: any): Promise<unknown> {
    const thread = await threadOf(step);
    const wanted: readonly Mode[] = step.modes ?? modes;
    const stream = client().runs.stream(thread, graph, {
      ...(await payloadOf(step, thread)),
      streamMode: wanted.map((mode) => (mode === 'messages' ? 'messages-tuple' : mode)),
      streamSubgraphs: step.subgraphs === true,
    });
    const chunks: unknown[] = [];
    for await (const { event, data } of stream as AsyncIterable<any>)
      if (event !== 'metadata') chunks.push([event, data]);
    return chunks;
  }

  async function heard(step: any): Promise<unknown> {
    const thread = await threadOf(step);
    const payload = await payloadOf(step, thread);
    const stream = client().runs.stream(thread, graph, { ...payload, streamMode: 'messages' });
    const texts = new Map<string, string>();
    for await (const { event, data } of stream as AsyncIterable<any>)
      if (event === 'messages/partial' || event === 'messages/complete')
        for (const { id, type, content } of data) if (/^ai/i.test(type)) texts.set(id, content);
    return [...texts.values()];
  }

  async function events(step: any): Promise<unknown> {
    const thread = await threadOf(step);
    const payload = await payloadOf(step, thread);
    const stream = client().runs.stream(thread, graph, { ...payload, streamMode: 'events' });
    const names: string[] = [];
    for await (const { event, data } of stream as AsyncIterable<any>)
      // A graph without a name has its id here, and a name of the library's when it runs alone.
      if (event === 'events') names.push(`${data.event} ${data.name === graph ? 'LangGraph' : data.name}`);
    return names;
  }

  async function killed(step: any): Promise<unknown> {
    const thread = await threadOf(step);
    const payload = await payloadOf(step, thread);
    const { run_id: id } = await client().runs.create(thread, graph, {
      ...payload,
      streamMode: ['updates'],
    });
    const reader = new AbortController();
    const stream = client().runs.joinStream(thread, id, { signal: reader.signal, lastEventId: '-1' } as any);
    for await (const { event } of stream as AsyncIterable<any>) if (event === 'updates') break;
    reader.abort();
    await lives.again();
    return client().runs.join(thread, id);
  }

  return {
    async follow(step: any) {
      switch (step.do) {
        case 'run':
          return run(step);
        case 'events':
          return events(step);
        case 'heard':
          return heard(step);
        case 'wait': {
          const thread = await threadOf(step);
          return client().runs.wait(thread, graph, {
            ...(await payloadOf(step, thread)),
            raiseError: false,
          });
        }
        case 'killed':
          return killed(step);
        case 'state':
          return toState(
            await client().threads.getState(await threadOf(step), undefined, {
              subgraphs: step.subgraphs === true,
            }),
          );
        case 'history': {
          const states = await client().threads.getHistory(await threadOf(step), { limit: 100 });
          histories.set(step.thread ?? 'main', states);
          return states.map(toState);
        }
        case 'update':
          await client().threads.updateState(await threadOf(step), {
            values: step.values,
            ...(step.asNode !== undefined && { asNode: step.asNode }),
          });
          return undefined;
        case 'items': {
          const { items } = await client().store.searchItems(step.namespace);
          return items.map(({ namespace, key, value }) => ({ namespace, key, value }));
        }
      }
    },
  };
}

function toState(state: any): any {
  return {
    values: state.values,
    next: state.next,
    tasks: state.tasks.map(({ id, name, error, interrupts, path, result, state: inner }: any) => ({
      ...{ id, name, error: error ?? null, interrupts, path: path ?? null, result: result ?? null },
      state: inner === null || inner === undefined ? null : toState(inner),
    })),
    metadata: state.metadata ?? null,
    checkpoint: state.checkpoint?.checkpoint_id ?? null,
    parent_checkpoint: state.parent_checkpoint?.checkpoint_id ?? null,
  };
}
