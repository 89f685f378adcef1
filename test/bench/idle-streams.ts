/**
 * Streams that wait for something to happen: what one of them costs in memory, and whether the server still answers
 * while very many are there. `node --import tsx test/bench/idle-streams.ts [streams]` prints the figures.
 */
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { withPrograms, type ServerProgram } from '../e2e/programs.ts';
import { cpuSeconds, residentBytes } from '../support/process-figures.ts';
import { get, openRaw } from '../support/raw-client.ts';

export interface IdleFigures {
  readonly streams: number;
  /** Of the server, resident, for each stream. */
  readonly bytesEach: number;
  /** Milliseconds that `GET /ok` took while all were open. */
  readonly p50: number;
  readonly p99: number;
  /** Share of one core that the server used while nothing happened. */
  readonly busy: number;
  /** Milliseconds from the end of the run that all watch until the last of them had heard of it. */
  readonly toldWithin: number;
}

const AT_ONCE = 100;
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const PROBES = 200;
const REST_MS = 5_000;

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function probe(server: ServerProgram): Promise<{ p50: number; p99: number }> {
  const times: number[] = [];
  for (let i = 0; i < PROBES; i++) {
    const began = performance.now();
    await server.ask('GET', '/ok');
    times.push(performance.now() - began);
    await rest(REST_MS / PROBES);
  }
  times.sort((a, b) => a - b);
  return { p50: times[PROBES >> 1]!, p99: times[Math.floor(PROBES * 0.99)]! };
}

/** Opens so many streams of one run of a server of its own. Needs twice that many files, in two processes. */
export async function measureIdleStreams(streams = 10_000): Promise<IdleFigures> {
  return withPrograms(async ({ serve }) => {
    const server = await serve();
    const order = { assistant_id: 'gate', input: {}, config: { configurable: { gate: '/nowhere' } } };
    const run = (await server.ask('POST', '/runs', order)).json;
    const path = `/threads/${run.thread_id}/runs/${run.run_id}/stream`;
    const sockets: Socket[] = [];
    let heard = 0;
    let tell: () => void = () => undefined;
    const open = async (): Promise<void> => {
      const source = `127.0.0.${1 + (sockets.length % 8)}`;
      const socket = await openRaw(server.port, get(path), source);
      sockets.push(socket);
      await new Promise<void>((resolve) =>
        socket.on('data', (chunk: Buffer) => {
          if (chunk.includes('event: metadata')) resolve();
          if (chunk.subarray(-5).equals(LAST_CHUNK) && ++heard === streams) tell();
        }),
      );
    };
    // What the first ones cost is the code's becoming warm.
    await Promise.all(Array.from({ length: AT_ONCE }, open));
    await probe(server);
    const [before, opened] = [residentBytes(server.pid), sockets.length];
    while (sockets.length < streams)
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, streams - sockets.length) }, open));
    const cpu = cpuSeconds(server.pid);
    const began = performance.now();
    const { p50, p99 } = await probe(server);
    const busy = (cpuSeconds(server.pid) - cpu) / ((performance.now() - began) / 1000);
    const bytesEach = (residentBytes(server.pid) - before) / (streams - opened);
    const all = new Promise<void>((resolve) => (tell = resolve));
    const ended = performance.now();
    await server.ask('POST', `/threads/${run.thread_id}/runs/${run.run_id}/cancel`);
    await all;
    const toldWithin = performance.now() - ended;
    for (const socket of sockets) socket.destroy();
    return { streams, bytesEach, p50, p99, busy, toldWithin };
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { streams, bytesEach, p50, p99, busy, toldWithin } = await measureIdleStreams(
    Number(process.argv[2] ?? 10_000),
  );
  console.log(
    `${streams} idle streams: ${(bytesEach / 1024).toFixed(1)} KB each, GET /ok p50 ${p50.toFixed(1)} ms ` +
      `p99 ${p99.toFixed(1)} ms, ${(100 * busy).toFixed(0)} % of a core, ` +
      `all told of the end within ${toldWithin.toFixed(0)} ms`,
  );
}
