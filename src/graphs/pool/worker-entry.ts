/**
 * The entry of a graph worker. In this order: unhandled errors get their handlers, the graphs are loaded, and only then
 * is anything listened to: a thread whose modules wait for something that never comes has nothing to do, so it ends and
 * is noticed.
 */
import { workerData, type MessagePort } from 'node:worker_threads';
import { systemClock } from '../../kernel/clock.ts';
import { tendIdleMemory } from '../../kernel/idle-memory.ts';
import { randomIds } from '../../kernel/ids.ts';
import { publishAddress } from '../../kernel/server-address.ts';
import { openInProcessGraphs } from '../in-process.ts';
import { loadGraphs } from '../loader.ts';
import { listenForFiles } from '../modules/loaded-files.ts';
import { openDescriber } from '../schemas/describer.ts';
import { guardThread } from './guard.ts';
import { openTaking } from './offers.ts';
import { publishRemoteFetch } from './remote-fetch.ts';
import { limitOutput, type ThreadOutput } from './output.ts';
import { openRpc, toWireError, type Methods } from './rpc.ts';
import { BEATS, LEAVE, SERVER_NOTES, toRemote, type ServerSide, type WorkerSetup } from './sides.ts';
import { limitStrays } from './strays.ts';
import { createWorkerHost } from './worker-host.ts';

const BEAT_MS = 100;

async function main({ setup, port }: { setup: WorkerSetup; port: MessagePort }): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) limitOutput(stream as unknown as ThreadOutput);

  const pulse = new Int32Array(setup.pulse);
  const take = openTaking(setup.pulse);
  const clock = systemClock();
  const methods: Record<string, Methods[string]> = {};
  const rpc = openRpc((batch) => port.postMessage(batch), methods);
  const server = toRemote<ServerSide>(rpc, SERVER_NOTES);
  const guard = guardThread(
    limitStrays((thrown, context) => server.stray(toWireError(thrown), context), clock),
  );
  // The guard replaces it below.
  const { exit } = process;
  const onRemoteBase = publishRemoteFetch(server, setup.base);
  const onBase = (url: string): void => {
    publishAddress(process.env, url);
    onRemoteBase(url);
  };
  listenForFiles((file) => server.file(file));
  const { graphs, problems } = await loadGraphs([...setup.graphs], setup.moduleMs);
  guard.lock();

  const host = openInProcessGraphs({ graphs, problems, ids: randomIds(clock), clock });
  const describer = openDescriber({
    graphs,
    readSource: (file, exportName) => server.source(file, exportName),
  });
  Object.assign(methods, createWorkerHost({ host, describer, server, guard, onBase, take }));
  port.on('message', (batch: unknown) => (batch === LEAVE ? exit(0) : rpc.receive(batch)));

  const beat = (): void => {
    Atomics.add(pulse, BEATS, 1);
    clock.after(BEAT_MS, beat);
  };
  const withLibrary = await host.findLibraries();
  beat();
  tendIdleMemory({ clock });
  server.ready({ graphIds: graphs.map(({ graphId }) => graphId), withLibrary, problems });
}

await main(workerData as { setup: WorkerSetup; port: MessagePort });
