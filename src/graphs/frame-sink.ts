import type { Frame } from './port.ts';

/** Hands frames to the server in order, together where several wait. */
export interface FrameSink {
  /** `data` is JSON text. Never waits and never throws. */
  push(event: string, data: string): void;
  /** Hands over now what waits: what the server is given after this call comes after those frames. */
  handOver(): void;
  /** Resolves at once while few frames wait, else when they are durable: await it before producing more. */
  ready(): Promise<void>;
  /** Resolves when everything pushed so far is durable, or was dropped after a failure. */
  flush(): Promise<void>;
  /** Drops what still waits; later pushes do nothing. */
  close(): void;
}

const MAX_WAITING = 64;

/** `onFailure` is told once, when `emit` rejects; nothing is emitted after that. */
export function openFrameSink(
  emit: (frames: readonly Frame[]) => Promise<void>,
  onFailure: (error: unknown) => void,
): FrameSink {
  let waiting: Frame[] = [];
  let pump: Promise<void> | undefined;
  const early = new Set<Promise<void>>();
  let open = true;

  const send = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    try {
      await emit(batch);
    } catch (error) {
      close();
      onFailure(error);
    }
  };

  const run = async (): Promise<void> => {
    // One microtask later, so that frames of the same moment travel together.
    await undefined;
    while (waiting.length > 0) await send();
    pump = undefined;
  };
  const close = (): void => {
    open = false;
    waiting = [];
  };

  return {
    push(event, data) {
      if (!open) return;
      waiting.push({ event, data });
      pump ??= run();
    },
    handOver() {
      if (waiting.length === 0) return;
      const sent = send().finally(() => early.delete(sent));
      early.add(sent);
    },
    ready: async () => {
      if (waiting.length >= MAX_WAITING) await pump;
    },
    flush: async () => {
      await Promise.all([pump, ...early]);
    },
    close,
  };
}
