import { setTimeout as later } from 'node:timers/promises';
import type { ServerProgram } from '../../e2e/programs.ts';

export interface Others {
  /** Stops asking; the times of all answers in milliseconds, sorted. Rejects when one was not 200. */
  stop(): Promise<number[]>;
}

/** Pause between two requests: enough of them come to measure, and a core is left for what they run beside. */
const PAUSE_MS = 5;

/** Somebody who behaves, all the while: threads are made and read, one after the other. */
export function startOthers(server: ServerProgram): Others {
  let going = true;
  const times: number[] = [];
  const work = async (): Promise<void> => {
    while (going) {
      const began = performance.now();
      const { status, json } = await server.ask('POST', '/threads', {});
      const read = await server.ask('GET', `/threads/${json?.thread_id}`);
      if (status !== 200 || read.status !== 200) throw new Error(`others got ${status} and ${read.status}`);
      times.push(performance.now() - began);
      await later(PAUSE_MS);
    }
  };
  const done = work();
  // A test that failed before it stopped this one has its own reason to tell.
  done.catch(() => undefined);
  return {
    async stop() {
      going = false;
      await done;
      return times.sort((a, b) => a - b);
    },
  };
}
