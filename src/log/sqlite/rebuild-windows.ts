/**
 * Makes the row writes of a whole log, a window of positions after the other. Windows do not depend on each other, so
 * two threads share them: the one that writes, and a helper that may be missing, late or dead at any time. Both take
 * the next window that nobody has; the writer never waits for long, and makes again what does not come.
 *
 * P2 Whoever made them, windows are handed over in the order of the log.
 */
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import { createRowFold } from '../fold-writes.ts';
import type { Projection, RowWrite } from '../rows.ts';
import { packWrites, type PackedWrites } from '../write-shapes.ts';
import { eachEvent } from './event-store.ts';
import type { Prepare } from './statements.ts';

/**
 * Facts about one thread lie close together, so among so many most rows are written once. With more the rows outlive
 * V8's young generation, and moving them costs more than the writes that are spared.
 */
const WINDOW = 2_000;
/** How many windows hold all positions up to this one. */
export const windowsUpTo = (head: number): number => Math.ceil(head / WINDOW);

/** How many windows may be made and not yet written: bounds the memory. */
const AHEAD = 16;
/**
 * Milliseconds that the writer waits for a window before it makes that one itself: a few times what a window takes. A
 * helper that the machine has no core for must not be slower than none.
 */
const PATIENCE_MS = 30;
/** Milliseconds after which the helper looks again, should nobody wake it. */
const HELPER_REST_MS = 1_000;

/** What the threads share: how many windows are taken, written, and delivered by the helper. */
const [TAKEN, WRITTEN, DELIVERED, STOPPED] = [0, 1, 2, 3] as const;
export const createCounters = (): Int32Array => new Int32Array(new SharedArrayBuffer(4 * 4));

/** A window that the helper made; without writes when it could not, so that the writer meets the error itself. */
interface Delivery {
  readonly window: number;
  readonly packed: PackedWrites | undefined;
}

/** Folds the writes of all windows, one after the other, on a thread that has no helper. */
export function eachWindow(
  prepare: Prepare,
  projection: Projection,
  identities: ReadonlyMap<string, readonly string[]>,
  count: number,
  write: (write: RowWrite) => void,
): void {
  const project = projection.projectMany?.() ?? projection.project;
  const fold = createRowFold(identities, write);
  for (let window = 0; window < count; window++) {
    eachEvent(
      prepare,
      (event) => {
        for (const each of project(event)) fold.add(each);
      },
      { after: window * WINDOW, upTo: (window + 1) * WINDOW },
    );
    fold.flush();
  }
}

/** By window the writes of its facts. Throws `UnreadableEvent`, and what a projection throws. */
export function createWindowMaker(
  prepare: Prepare,
  projection: Projection,
  identities: ReadonlyMap<string, readonly string[]>,
): (window: number) => PackedWrites {
  const project = projection.projectMany?.() ?? projection.project;
  return (window) => {
    const { add, packed } = packWrites();
    const fold = createRowFold(identities, add);
    eachEvent(
      prepare,
      (event) => {
        for (const write of project(event)) fold.add(write);
      },
      { after: window * WINDOW, upTo: (window + 1) * WINDOW },
    );
    fold.flush();
    return packed;
  };
}

/** The next window that nobody has; undefined when all are taken, or enough for now. */
function take(counters: Int32Array, count: number): number | undefined {
  for (;;) {
    const next = Atomics.load(counters, TAKEN);
    if (next >= Math.min(count, Atomics.load(counters, WRITTEN) + AHEAD)) return undefined;
    if (Atomics.compareExchange(counters, TAKEN, next, next + 1) === next) return next;
  }
}

export interface WindowsOptions {
  readonly count: number;
  readonly make: (window: number) => PackedWrites;
  readonly write: (packed: PackedWrites) => void;
  /** `port` brings what the helper made. */
  readonly helper?: { readonly counters: Int32Array; readonly port: MessagePort } | undefined;
  readonly patienceMs?: number;
}

/** Makes and writes all windows. Blocks its thread. Returns how many the helper made. */
export function writeWindows(options: WindowsOptions): number {
  const { count, make, write, helper, patienceMs = PATIENCE_MS } = options;
  const counters = helper?.counters ?? createCounters();
  const ready = new Map<number, PackedWrites>();
  let helped = 0;

  for (let next = 0; next < count;) {
    const delivered = Atomics.load(counters, DELIVERED);
    for (let found = receive(helper?.port); found !== undefined; found = receive(helper?.port)) {
      if (found.window < next || ready.has(found.window)) continue;
      ready.set(found.window, found.packed ?? make(found.window));
      if (found.packed !== undefined) helped += 1;
    }
    const packed = ready.get(next);
    if (packed !== undefined) {
      write(packed);
      ready.delete(next);
      next += 1;
      Atomics.store(counters, WRITTEN, next);
      Atomics.notify(counters, WRITTEN);
      continue;
    }
    const taken = take(counters, count);
    if (taken !== undefined) ready.set(taken, make(taken));
    else if (Atomics.wait(counters, DELIVERED, delivered, patienceMs) === 'timed-out')
      ready.set(next, make(next));
  }
  return helped;
}

const receive = (port: MessagePort | undefined): Delivery | undefined =>
  port && (receiveMessageOnPort(port)?.message as Delivery | undefined);

/** The helper's side: makes windows until all are taken, or `stopHelping` was called. */
export function helpWithWindows(
  counters: Int32Array,
  port: MessagePort,
  count: number,
  make: (window: number) => PackedWrites,
): void {
  while (Atomics.load(counters, STOPPED) === 0) {
    const written = Atomics.load(counters, WRITTEN);
    const window = take(counters, count);
    if (window === undefined) {
      if (Atomics.load(counters, TAKEN) >= count) return;
      Atomics.wait(counters, WRITTEN, written, HELPER_REST_MS);
      continue;
    }
    port.postMessage({ window, packed: attempt(() => make(window)) } satisfies Delivery);
    Atomics.add(counters, DELIVERED, 1);
    Atomics.notify(counters, DELIVERED);
  }
}

export function stopHelping(counters: Int32Array): void {
  Atomics.store(counters, STOPPED, 1);
  Atomics.notify(counters, WRITTEN);
}

function attempt(make: () => PackedWrites): PackedWrites | undefined {
  try {
    return make();
  } catch {
    // The writer makes this window itself, and meets the same error where it is told.
    return undefined;
  }
}
