import type { Frame } from './port.ts';

/** Sends an attempt's frames to the server in order, batched. */
export interface FrameSink {
  /** Queues a frame; `data` is JSON text. Synchronous, never throws. */
  push(event: string, data: string): void;
  /** The number of frames pushed. */
  readonly made: number;
  /**
   * Sends all queued frames now, so messages that the caller sends afterwards arrive behind them. A long queue is sent in
   * several batches instead: await the returned promise before sending anything else.
   */
  handOver(): Promise<void> | undefined;
  /** Back-pressure: resolves at once while the queue is short, otherwise when it is sent. Await it before pushing more. */
  ready(): Promise<void>;
  /** Resolves when the server has accepted all pushed frames, or they were dropped after a failure. */
  flush(): Promise<void>;
  /** True if the server has accepted all pushed frames, or they were dropped. */
  readonly isIdle: boolean;
  /** Drops the queued frames; later pushes have no effect. */
  close(): void;
}

const MAX_QUEUED_FRAMES = 64;
/** Limits of one batch, so that handling it does not block the server's event loop noticeably. */
const MAX_BATCH_FRAMES = 512;
const MAX_BATCH_UTF16_UNITS = 1_000_000;

/** Shared: a graph that writes without a pause asks for one promise a frame. */
const READY = Promise.resolve();

/** `onFailure` is called once, when `emit` rejects; nothing is emitted afterwards. */
export function openFrameSink(
  emit: (frames: readonly Frame[]) => Promise<void>,
  onFailure: (error: unknown) => void,
): FrameSink {
  let queued: Frame[] = [];
  /** Index of the first unsent frame in `queued`; slicing a long array for each batch would be quadratic. */
  let from = 0;
  let pump: Promise<void> | undefined;
  const early = new Set<Promise<void>>();
  let made = 0;
  let open = true;

  const count = (): number => queued.length - from;

  function take(): Frame[] {
    let to = from;
    for (
      let size = 0;
      to < queued.length && to - from < MAX_BATCH_FRAMES && size < MAX_BATCH_UTF16_UNITS;
      to++
    )
      size += queued[to]!.data.length;
    const batch = from === 0 && to === queued.length ? queued : queued.slice(from, to);
    from = to;
    if (from === queued.length) [queued, from] = [[], 0];
    return batch;
  }

  const send = async (): Promise<void> => {
    try {
      await emit(take());
    } catch (error) {
      close();
      onFailure(error);
    }
  };

  const run = async (): Promise<void> => {
    // Frames pushed in one synchronous section share a batch.
    await undefined;
    while (count() > 0) await send();
    pump = undefined;
  };
  const close = (): void => {
    open = false;
    [queued, from] = [[], 0];
  };

  return {
    push(event, data) {
      if (!open) return;
      made += 1;
      queued.push({ event, data });
      pump ??= run();
    },
    get made() {
      return made;
    },
    handOver() {
      if (count() > MAX_BATCH_FRAMES) return pump;
      while (count() > 0) {
        const sent = send().finally(() => early.delete(sent));
        early.add(sent);
      }
      return undefined;
    },
    ready: () => (count() >= MAX_QUEUED_FRAMES && pump !== undefined ? pump : READY),
    get isIdle() {
      return pump === undefined && early.size === 0;
    },
    flush: async () => {
      await Promise.all([pump, ...early]);
    },
    close,
  };
}
