import { toWords } from '../failure.ts';

/** `by`: it ended itself, was ended because a run did not stop, or because the server stops. */
export interface WorkerEnd {
  readonly by: 'itself' | 'stop' | 'close';
  readonly error: string;
  readonly message: string;
  /** The job whose code kept the event loop, if that is known. */
  readonly holder?: number;
}

export const OUT_OF_MEMORY = 'WorkerHeapLimit';

export const died = (error: string, message: string): WorkerEnd => ({ by: 'itself', error, message });

/** No run is to blame, and none is under way. */
export const SPOILED: WorkerEnd = {
  by: 'close',
  error: 'WorkerSpoiled',
  message: 'A graph worker could not load something for want of files, and would not be able to any more',
};

/** The end of a thread that nobody in it caught `thrown`, which may be anything that can be thrown. */
export function diedOf(thrown: unknown, heapMb: number): WorkerEnd {
  const { code } = Object(thrown) as { code?: unknown };
  return code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? died(
        OUT_OF_MEMORY,
        `The worker of the graph used more memory than its ${heapMb} MB (PLATFORM_WORKER_HEAP_MB)`,
      )
    : died('WorkerFault', `The worker of the graph failed: ${toWords(thrown)}`);
}
