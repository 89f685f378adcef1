/** The client's side of the benchmark: closed loops, turns of one thread, many streams at once. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { LOG_FILE } from '../../src/store/sqlite/log.ts';
import {
  percentile,
  toFigure,
  type Figure,
  type Flow,
  type LoadOrder,
  type StreamFigures,
  type Turns,
} from './figures.ts';
import { openLane, type Lane, type Reply } from './lane.ts';
import { bytesWritten, childrenOf, cpuSeconds } from '../support/process-figures.ts';
import { untilWarm } from './warm.ts';

const input = { messages: [{ role: 'user', content: 'hello' }] };

export async function carryOut(order: LoadOrder): Promise<Figure | Turns | StreamFigures> {
  switch (order.kind) {
    case 'loop':
      return loop(order);
    case 'turns':
      return turns(order);
    case 'streams':
      return streams(order);
  }
}

async function good(lane: Lane, path: string, body?: unknown, method = 'POST'): Promise<Reply> {
  const reply = await lane.ask(method, path, body);
  if (reply.status !== 200) throw new Error(`${method} ${path}: ${reply.status} ${reply.body}`);
  return reply;
}

const newThread = async (lane: Lane): Promise<string> =>
  (JSON.parse((await good(lane, '/threads', {})).body) as { thread_id: string }).thread_id;

async function once(lane: Lane, flow: Flow, graph: string, busy: string): Promise<number | undefined> {
  const run = { assistant_id: graph, input };
  switch (flow) {
    case 'post':
      await good(lane, '/', {});
      return;
    case 'thread':
      await good(lane, '/threads', {});
      return;
    case 'wait':
      await good(lane, '/runs/wait', run);
      return;
    case 'thread-wait-state': {
      const id = await newThread(lane);
      await good(lane, `/threads/${id}/runs/wait`, run);
      await good(lane, `/threads/${id}/state`, undefined, 'GET');
      return;
    }
    case 'thread-stream': {
      const id = await newThread(lane);
      const modes = { ...run, stream_mode: ['values', 'messages-tuple'] };
      return (await good(lane, `/threads/${id}/runs/stream`, modes)).firstMs;
    }
    case 'reject': {
      const body = { ...run, multitask_strategy: 'reject' };
      const { status } = await lane.ask('POST', `/threads/${busy}/runs`, body);
      if (status !== 409 && status !== 422) throw new Error(`a rejected run was answered with ${status}`);
      return;
    }
  }
}

/** What a server and its workers have used, and what lies in its directory but for the write-ahead log. */
const usedBy = ({ pid, dir }: { readonly pid: number; readonly dir: string }) => ({
  seconds: [pid, ...childrenOf(pid)].reduce((sum, each) => sum + cpuSeconds(each), 0),
  written: bytesWritten(pid),
  kept: statSync(join(dir, LOG_FILE)).size,
});

/** Each lane asks again as soon as it was answered. A failure ends the benchmark. */
async function loop(order: LoadOrder & { kind: 'loop' }): Promise<Figure> {
  const { base, flow, graph, lanes, seconds, watched } = order;
  const open = await Promise.all(Array.from({ length: lanes }, () => openLane(base)));
  let busy = '';
  if (flow === 'reject') {
    busy = await newThread(open[0]!);
    // Far from due: the thread is busy for as long as this takes.
    await good(open[0]!, `/threads/${busy}/runs`, { assistant_id: graph, input, after_seconds: 3600 });
  }
  const run = async (ms: number): Promise<Figure> => {
    const times: number[] = [];
    const firsts: number[] = [];
    const before = watched && usedBy(watched);
    const began = performance.now();
    await Promise.all(
      open.map(async (lane) => {
        while (performance.now() < began + ms) {
          const from = performance.now();
          const first = await once(lane, flow, graph, busy);
          times.push(performance.now() - from);
          if (first !== undefined) firsts.push(first);
        }
      }),
    );
    const figure = toFigure(times, performance.now() - began, firsts);
    if (watched === undefined || before === undefined) return figure;
    const after = usedBy(watched);
    return {
      ...figure,
      cpuMs: ((after.seconds - before.seconds) * 1000) / times.length,
      writtenKb: (after.written - before.written) / 1024 / times.length,
      keptKb: (after.kept - before.kept) / 1024 / times.length,
    };
  };
  await untilWarm(async (ms) => (await run(ms)).perSecond);
  const figure = await run(seconds * 1000);
  for (const lane of open) lane.close();
  return figure;
}

async function turns({ base, graph, turns: count }: LoadOrder & { kind: 'turns' }): Promise<Turns> {
  const lane = await openLane(base);
  // Both programs are warm before the first turn counts.
  for (let i = 0; i < 200; i++) await good(lane, '/runs/wait', { assistant_id: graph, input });
  const id = await newThread(lane);
  const times: number[] = [];
  for (let i = 0; i < count; i++)
    times.push((await good(lane, `/threads/${id}/runs/wait`, { assistant_id: graph, input })).ms);
  lane.close();
  return times;
}

/** A frame of the measurement: when it was made and when it came, in milliseconds of the machine's clock. */
type Seen = readonly [madeAt: number, cameAt: number];

/**
 * Frames say when they were made, by the clock of the machine that both programs share. What counts is the time in which
 * all of the streams are open: from the last one's first frame to the first one's last.
 */
async function streams(order: LoadOrder & { kind: 'streams' }): Promise<StreamFigures> {
  const { base, graph, streams: count, frames, everyMs } = order;
  const open = await Promise.all(Array.from({ length: count }, () => openLane(base)));
  const all = async (frames: number): Promise<Seen[][]> =>
    Promise.all(
      open.map(async (lane) => {
        const seen: Seen[] = [];
        const body = { assistant_id: graph, input: { frames, everyMs }, stream_mode: ['custom'] };
        const reply = await lane.ask('POST', '/runs/stream', body, (text) => {
          const now = Date.now();
          for (const [, at] of text.matchAll(/"madeAt":(\d+)/g)) seen.push([Number(at), now]);
        });
        if (reply.status !== 200) throw new Error(`a stream was answered with ${reply.status} ${reply.body}`);
        return seen;
      }),
    );
  await untilWarm(async (ms) => {
    const began = performance.now();
    await all(Math.ceil(ms / everyMs));
    return 1 / (performance.now() - began);
  });
  const seen = await all(frames);
  for (const lane of open) lane.close();
  const from = Math.max(...seen.map((stream) => stream[0]?.[0] ?? NaN));
  const to = Math.min(...seen.map((stream) => stream.at(-1)?.[0] ?? NaN));
  const within = (at: number): boolean => at >= from && at <= to;
  const came = seen.flat().filter(([, cameAt]) => within(cameAt));
  const added = seen
    .flat()
    .filter(([madeAt]) => within(madeAt))
    .map(([madeAt, cameAt]) => cameAt - madeAt);
  return {
    framesPerSecond: came.length / ((to - from) / 1000),
    share: seen.flat().length / (count * frames),
    seconds: (to - from) / 1000,
    addedP50: percentile(added, 0.5),
    addedP99: percentile(added, 0.99),
  };
}
