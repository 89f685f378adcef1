/**
 * The entry of a graph worker. In this order: the channel to the server is taken out of the reach of graph code, the
 * thread is guarded, the graphs are loaded, and only then is anything listened to: a thread whose modules wait for
 * something that never comes has nothing to do, so it ends and is noticed.
 */
import { syncBuiltinESMExports } from 'node:module';
import threads, { workerData, type MessagePort } from 'node:worker_threads';
import { systemClock } from '../../kernel/clock.ts';
import { randomIds } from '../../kernel/ids.ts';
import { openInProcessGraphs } from '../in-process.ts';
import { loadGraphs } from '../loader.ts';
import { openDescriber } from '../schemas/describer.ts';
import { guardThread } from './guard.ts';
import { publishRemoteFetch } from './remote-fetch.ts';
import { openRpc, toWireError, type Methods } from './rpc.ts';
import { SERVER_NOTES, toRemote, type ServerSide, type WorkerSetup } from './sides.ts';
import { createWorkerHost } from './worker-host.ts';

const BEAT_MS = 100;

async function main(given: { setup: WorkerSetup; port: MessagePort }): Promise<void> {
  const { setup, port } = given;
  Object.assign(given, { setup: undefined, port: undefined });
  Object.assign(threads, { parentPort: null, workerData: null });
  syncBuiltinESMExports();

  // Bound now: graph code may replace the method later.
  const post = port.postMessage.bind(port);
  const clock = systemClock();
  const methods: Record<string, Methods[string]> = {};
  const rpc = openRpc(post, methods);
  const server = toRemote<ServerSide>(rpc, SERVER_NOTES);
  const guard = guardThread((thrown, context) => server.stray(toWireError(thrown), context));
  const onBase = publishRemoteFetch(server, setup.base);
  const { graphs, problems } = await loadGraphs([...setup.graphs]);
  guard.lock();

  const host = openInProcessGraphs({ graphs, ids: randomIds(clock), clock });
  const describer = openDescriber({
    graphs,
    readSource: (file, exportName) => server.source(file, exportName),
  });
  Object.assign(methods, createWorkerHost({ host, describer, server, guard, onBase }));
  port.on('message', (batch: unknown) => rpc.receive(batch));

  const beats = new Int32Array(setup.beat);
  const beat = (): void => {
    Atomics.add(beats, 0, 1);
    clock.after(BEAT_MS, beat);
  };
  beat();
  server.ready({ graphIds: graphs.map(({ graphId }) => graphId), problems });
}

await main(workerData as { setup: WorkerSetup; port: MessagePort });
