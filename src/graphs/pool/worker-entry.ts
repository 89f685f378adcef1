/**
 * The entry of a graph worker. In this order: the channel to the server is taken out of the reach of graph code, the
 * thread is guarded, the graphs are loaded, and only then is anything listened to: a thread whose modules wait for
 * something that never comes has nothing to do, so it ends and is noticed.
 */
import { syncBuiltinESMExports } from 'node:module';
import threads, { workerData, type MessagePort } from 'node:worker_threads';
import { systemClock } from '../../kernel/clock.ts';
import { tendIdleMemory } from '../../kernel/idle-memory.ts';
import { randomIds } from '../../kernel/ids.ts';
import { LEAVE, THREAD_MARK } from '../../kernel/worker-memory.ts';
import { openInProcessGraphs } from '../in-process.ts';
import { loadGraphs } from '../loader.ts';
import { openDescriber } from '../schemas/describer.ts';
import { guardThread } from './guard.ts';
import { openTaking } from './offers.ts';
import { publishRemoteFetch } from './remote-fetch.ts';
import { rememberNatives, type Natives } from './natives.ts';
import { hidePort, limitOutput, type ThreadOutput } from './output.ts';
import { openRpc, toWireError, type Methods } from './rpc.ts';
import { BEATS, REPLACED, SERVER_NOTES, toRemote, type ServerSide, type WorkerSetup } from './sides.ts';
import { limitStrays } from './strays.ts';
import { createWorkerHost } from './worker-host.ts';

const BEAT_MS = 100;

async function main(given: { setup: WorkerSetup; port: MessagePort }): Promise<void> {
  const { setup, port } = given;
  Object.assign(given, { setup: undefined, port: undefined });
  Object.assign(threads, { parentPort: null, workerData: null });
  threads.setEnvironmentData(THREAD_MARK, setup.mark);
  syncBuiltinESMExports();
  for (const stream of [process.stdout, process.stderr]) limitOutput(stream as unknown as ThreadOutput);
  hidePort(process.stdin);

  const pulse = new Int32Array(setup.pulse);
  const { add } = Atomics;
  const take = openTaking(setup.pulse);
  /** What modules of the project change while they are loaded is theirs to answer for. */
  let natives: Natives | undefined;
  /** Whether this thread is what it was; the server reads it when it is not, whatever works or not by then. */
  const isSound = (): boolean => {
    const place = natives === undefined ? 0 : natives.replaced();
    if (place !== 0) pulse[REPLACED] = place;
    return place === 0;
  };
  // Bound now: graph code may replace the method later.
  const say = port.postMessage.bind(port);
  const post = (batch: unknown): void => {
    if (isSound()) say([setup.secret, batch]);
  };
  const clock = systemClock();
  const methods: Record<string, Methods[string]> = {};
  const rpc = openRpc(post, methods);
  const server = toRemote<ServerSide>(rpc, SERVER_NOTES);
  const guard = guardThread(
    limitStrays((thrown, context) => server.stray(toWireError(thrown), context), clock),
  );
  const leave = Reflect.get(globalThis, Symbol.for(LEAVE)) as () => void;
  const onBase = publishRemoteFetch(server, setup.base);
  const { graphs, problems } = await loadGraphs([...setup.graphs], setup.moduleMs);
  guard.lock();
  natives = rememberNatives();

  const host = openInProcessGraphs({ graphs, problems, ids: randomIds(clock), clock });
  const describer = openDescriber({
    graphs,
    readSource: (file, exportName) => server.source(file, exportName),
  });
  Object.assign(
    methods,
    createWorkerHost({ host, describer, server, guard, onBase, take, heapMb: setup.heapMb }),
  );
  port.on('message', (batch: unknown) => (batch === LEAVE ? leave() : rpc.receive(batch)));

  const beat = (): void => {
    isSound();
    add(pulse, BEATS, 1);
    clock.after(BEAT_MS, beat);
  };
  const withLibrary = await host.findLibraries();
  beat();
  tendIdleMemory({ clock });
  server.ready({ graphIds: graphs.map(({ graphId }) => graphId), withLibrary, problems });
}

await main(workerData as { setup: WorkerSetup; port: MessagePort });
