/**
 * The program of a graph worker. The message channel is file descriptor 3, the lifeline is file descriptor 4.
 * The lifeline thread and the error handlers start before graph code is loaded, because graph code may stall or throw.
 */
import { flushCompileCache } from 'node:module';
import { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { systemClock } from '../kernel/clock.ts';
import { tendIdleMemory } from '../kernel/idle-memory.ts';
import { VERSION } from '../kernel/product.ts';
import { startWorker } from '../kernel/worker.ts';
import { listenForFiles } from '../graphs/modules/loaded-files.ts';
import { openConnection } from '../workers/connection.ts';
import type { Message } from '../workers/frame.ts';
import { PROTOCOL, TYPE, type Hello, type Welcome } from '../workers/messages.ts';
import { toWireError } from '../workers/wire-error.ts';
import { attributeErrors, limitUnhandled } from './attribution.ts';
import { endGroup } from './end-group.ts';
import { createWorkerHost, type WorkerHost } from './host.ts';
import { labelLines } from './label-output.ts';
import { publishServerFetch } from './server-fetch.ts';
import { SIGN, SIGN_BYTES, TURN_MS } from './vital-signs.ts';

const CHANNEL_FD = 3;

interface PipeHandle {
  setBlocking?(isBlocking: boolean): void;
}

const clock = systemClock();
const { exit } = process;
const shared = new SharedArrayBuffer(SIGN_BYTES);
startWorker('worker/lifeline', shared).unref();

// Blocking writes bound the memory of a loop that prints, and keep the last output of a process that crashes.
for (const { _handle } of [process.stdout, process.stderr] as unknown as { _handle?: PipeHandle }[])
  _handle?.setBlocking?.(true);

const channel = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
let host: WorkerHost | undefined;
let onBase: (base: string) => void = () => undefined;

function welcome({ graphs, base, token, isDevelopment }: Welcome): void {
  signs[SIGN.isDevelopment] = isDevelopment ? 1 : 0;
  if (isDevelopment)
    for (const stream of [process.stdout, process.stderr])
      labelLines(stream, () => attribution.current()?.label);
  onBase = publishServerFetch(token);
  if (base !== '') onBase(base);
  listenForFiles((path, importer) =>
    connection.send(TYPE.file, 0, { path, ...(importer !== undefined && { importer }) }),
  );
  host = createWorkerHost({ connection, graphs, attribution, clock });
}

function onMessage(message: Message): void {
  if (message.type === TYPE.welcome) welcome(message.head);
  else if (message.type === TYPE.base) onBase(message.head.url);
  else host?.receive(message);
}

// The channel ends when the server dies, or closes it to stop this worker. Exit listeners of graph code run first.
const connection = openConnection(channel, onMessage, () => {
  // Killed by `endGroup`, the process would lose what it has compiled.
  flushCompileCache();
  process.on('exit', endGroup);
  exit(0);
});
const attribution = attributeErrors(
  limitUnhandled(
    (thrown, context) => connection.send(TYPE.uncaught, 0, { error: toWireError(thrown), context }),
    clock,
  ),
);
// A service manager may signal all processes at once; only the server acts on it and stops workers after their runs.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);

const signs = new Float64Array(shared);
let busy = performance.eventLoopUtilization();
function turn(): void {
  const count = (signs[SIGN.turns] = signs[SIGN.turns]! + 1);
  if (count % 10 === 0) {
    const now = performance.eventLoopUtilization();
    signs[SIGN.busyPermille] = Math.round(1_000 * performance.eventLoopUtilization(now, busy).utilization);
    busy = now;
  }
  clock.after(TURN_MS, turn);
}
turn();
tendIdleMemory({ clock });

connection.send(TYPE.hello, 0, {
  protocol: PROTOCOL,
  language: 'javascript',
  version: VERSION,
} satisfies Hello);
