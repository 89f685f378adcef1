/**
 * `npm run bench [-- seconds]`: the server as a process, driven over loopback by this one, and beside it in the same
 * run the graph engine alone and a bare HTTP server, because only ratios of one run mean something on a shared machine.
 */
import { createServer } from 'node:http';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { HumanMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph';
import { withTempDir } from '../support/temp-dir.ts';
import { startProcess } from '../support/with-process.ts';
import { fileURLToPath } from 'node:url';
import { builder } from './project/echo.ts';

const seconds = Number(process.argv[2] ?? 5);
const input = { messages: [{ role: 'user', content: 'hello' }] };

interface Figure {
  readonly name: string;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** Closed loop: each of `lanes` asks again as soon as it was answered. A failure ends the benchmark. */
async function measure(name: string, lanes: number, once: () => Promise<unknown>): Promise<Figure> {
  for (let i = 0; i < 20; i++) await once();
  const times: number[] = [];
  const began = performance.now();
  const end = began + seconds * 1000;
  const lane = async (): Promise<void> => {
    while (performance.now() < end) {
      const from = performance.now();
      await once();
      times.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const elapsed = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  const figure = {
    name,
    perSecond: times.length / elapsed,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  };
  console.log(
    `${name.padEnd(44)} ${figure.perSecond.toFixed(1).padStart(9)} /s   ` +
      `p50 ${figure.p50.toFixed(1).padStart(7)} ms   p99 ${figure.p99.toFixed(1).padStart(7)} ms`,
  );
  return figure;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });

function call(base: string, method: string, path: string, body?: unknown): Promise<string> {
  const { hostname, port } = new URL(base);
  const data = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers =
      data === undefined ? {} : { 'content-type': 'application/json', 'content-length': data.length };
    const request = http.request({ hostname, port, method, path, agent, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () =>
        response.statusCode === 200 ? resolve(text) : reject(new Error(`${response.statusCode} ${text}`)),
      );
    });
    request.on('error', reject);
    request.end(data);
  });
}

async function bareHttp(): Promise<Figure> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const figure = await measure('bare node:http POST, 32 connections', 32, () => call(base, 'POST', '/', {}));
  server.closeAllConnections();
  server.close();
  return figure;
}

function engineAlone(lanes: number): Promise<Figure> {
  const graph = builder.compile({ checkpointer: new MemorySaver() });
  return measure(`engine alone, in process, ${lanes} at a time`, lanes, () =>
    graph.invoke(
      { messages: [new HumanMessage('hello')] },
      { configurable: { thread_id: crypto.randomUUID() } },
    ),
  );
}

async function serverFigures(base: string): Promise<Record<string, Figure>> {
  const thread = async (): Promise<string> =>
    (JSON.parse(await call(base, 'POST', '/threads', {})) as { thread_id: string }).thread_id;
  const run = { assistant_id: 'agent', input };
  return {
    threads: await measure('create thread, 32 connections', 32, thread),
    wait1: await measure('stateless run and wait, one at a time', 1, () =>
      call(base, 'POST', '/runs/wait', run),
    ),
    wait32: await measure('stateless run and wait, 32 connections', 32, () =>
      call(base, 'POST', '/runs/wait', run),
    ),
    flow: await measure('thread + wait + state, 32 connections', 32, async () => {
      const id = await thread();
      await call(base, 'POST', `/threads/${id}/runs/wait`, run);
      await call(base, 'GET', `/threads/${id}/state`);
    }),
    stream: await measure('thread + stream, 32 connections', 32, async () => {
      const id = await thread();
      const modes = { ...run, stream_mode: ['values', 'messages-tuple'] };
      await call(base, 'POST', `/threads/${id}/runs/stream`, modes);
    }),
  };
}

async function turns(base: string): Promise<void> {
  const { thread_id: id } = JSON.parse(await call(base, 'POST', '/threads', {})) as { thread_id: string };
  const times: number[] = [];
  for (let i = 0; i < 200; i++) {
    const from = performance.now();
    await call(base, 'POST', `/threads/${id}/runs/wait`, { assistant_id: 'agent', input });
    times.push(performance.now() - from);
  }
  const p50 = (part: number[]): string =>
    percentile(
      part.sort((a, b) => a - b),
      0.5,
    ).toFixed(1);
  console.log(
    `200 turns on one thread: p50 ${p50(times.slice(0, 20))} ms in the first 20, ${p50(times.slice(-20))} ms in the last 20`,
  );
}

await withTempDir(async (dir) => {
  const config = fileURLToPath(new URL('./project/platform.json', import.meta.url));
  const bare = await bareHttp();
  const alone1 = await engineAlone(1);
  const alone32 = await engineAlone(32);
  const from = performance.now();
  const server = await startProcess({ dir, config });
  await call(server.url, 'GET', '/ok');
  console.log(`start to first answer: ${((performance.now() - from) / 1000).toFixed(1)} s`);
  try {
    const figures = await serverFigures(server.url);
    await turns(server.url);
    const ratio = (a: Figure, b: Figure): string => (a.perSecond / b.perSecond).toFixed(2);
    console.log(`create thread / bare http        ${ratio(figures['threads']!, bare)}`);
    console.log(`wait, one at a time / engine     ${ratio(figures['wait1']!, alone1)}`);
    console.log(`wait, 32 connections / engine    ${ratio(figures['wait32']!, alone32)}`);
  } finally {
    await server.end('SIGTERM');
    agent.destroy();
  }
});
