import type { Frame } from './port.ts';

/** Hands frames to the server in order, together where several wait. */
export interface FrameSink {
  /** `data` is JSON text. Never waits and never throws. */
  push(event: string, data: string): void;
  /** How many were pushed. */
  readonly made: number;
  /**
   * Hands over now what waits: what the server is given after this call comes after those frames. When so much waits
   * that the server has to take it bit by bit, a promise to wait for before.
   */
  handOver(): Promise<void> | undefined;
  /** Resolves at once while few frames wait, else when the server has taken them: await it before producing more. */
  ready(): Promise<void>;
  /** Resolves when the server has taken everything pushed so far, or it was dropped after a failure. */
  flush(): Promise<void>;
  /** Drops what still waits; later pushes do nothing. */
  close(): void;
}

const MAX_WAITING = 64;
/** What is handed over at once: few enough for the server to take without anybody noticing. */
const MAX_FRAMES = 512;
const MAX_CHARACTERS = 1_000_000;

/** `onFailure` is told once, when `emit` rejects; nothing is emitted after that. */
export function openFrameSink(
  emit: (frames: readonly Frame[]) => Promise<void>,
  onFailure: (error: unknown) => void,
): FrameSink {
  let waiting: Frame[] = [];
  /** The first of `waiting` that was not taken: to cut a long list often would cost too much. */
  let from = 0;
  let pump: Promise<void> | undefined;
  const early = new Set<Promise<void>>();
  let made = 0;
  let open = true;

  const count = (): number => waiting.length - from;

  function take(): Frame[] {
    let to = from;
    for (let size = 0; to < waiting.length && to - from < MAX_FRAMES && size < MAX_CHARACTERS; to++)
      size += waiting[to]!.data.length;
    const batch = from === 0 && to === waiting.length ? waiting : waiting.slice(from, to);
    from = to;
    if (from === waiting.length) [waiting, from] = [[], 0];
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
    // One microtask later, so that frames of the same moment travel together.
    await undefined;
    while (count() > 0) await send();
    pump = undefined;
  };
  const close = (): void => {
    open = false;
    [waiting, from] = [[], 0];
  };

  return {
    push(event, data) {
      if (!open) return;
      made += 1;
      waiting.push({ event, data });
      pump ??= run();
    },
    get made() {
      return made;
    },
    handOver() {
      if (count() > MAX_FRAMES) return pump;
      while (count() > 0) {
        const sent = send().finally(() => early.delete(sent));
        early.add(sent);
      }
      return undefined;
    },
    ready: async () => {
      if (count() >= MAX_WAITING) await pump;
    },
    flush: async () => {
      await Promise.all([pump, ...early]);
    },
    close,
  };
}
