/**
 * X4 Ends the worker whose graph leaves so many files and sockets open that the server could open none any more: to
 * hear a client it needs one. Those of a thread are closed with it. Only where the system says how many there may be.
 */
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import type { Clock } from '../../kernel/clock.ts';
import type { GraphWorker } from './graph-worker.ts';
import { createSuspects } from './suspects.ts';

export interface FileGuard {
  /** Asked all the time; looks now and then. */
  look(): void;
  /** A worker that comes up now finds as many files as it needs. */
  hasRoom(): boolean;
}

/** At a time; it closes what it has read. */
const NEEDED = 32;
const EVERY_MS = 1_000;
/** Parts of all there may be: nobody is looked for below the first, and the second is more than a graph needs. */
const MOST = 0.5;
const SHARE = 0.2;
/** Far more than any server needs, where there is next to no limit. */
const CEILING = 100_000;

export function createFileGuard(clock: Clock, workers: () => readonly GraphWorker[]): FileGuard {
  const limit = Math.min(readLimit() ?? Infinity, CEILING);
  const suspects = createSuspects({
    ...{ clock, workers },
    measure: async () => ofGraphs(limit),
    share: SHARE * limit,
    end: {
      by: 'itself',
      error: 'WorkerFileLimit',
      message: `The worker of the graph left too many files or sockets open: all threads together may have ${limit}`,
    },
  });
  let lookAt = 0;
  let searching = false;

  return {
    hasRoom: () => count(limit) < limit - 2 * NEEDED,
    look() {
      const now = clock.monotonic();
      if (now < lookAt || searching) return;
      lookAt = now + EVERY_MS;
      if (ofGraphs(limit) <= MOST * limit) return suspects.remember();
      searching = true;
      void suspects.search(MOST * limit).finally(() => (searching = false));
    },
  };
}

/** Without the clients of the server, whose connections are of its own thread: they are no graph's fault. */
function ofGraphs(limit: number): number {
  const all = count(limit);
  if (all <= MOST * limit) return all;
  return all - process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
}

/** Linux from 6.2 on says it by the size of their directory. */
function count(limit: number): number {
  const { size = 0 } = statSync('/proc/self/fd', { throwIfNoEntry: false }) ?? {};
  return size === 0 ? highest(limit) : size;
}

/** About how many are open: the system gives the lowest number that is free, and the first few may be gaps. */
function highest(limit: number): number {
  const opened: number[] = [];
  try {
    while (opened.length < NEEDED) opened.push(openSync(devNull, 'r'));
    return Math.max(...opened);
  } catch {
    return limit;
  } finally {
    for (const file of opened) closeSync(file);
  }
}

/** Node.js has raised its own to the most it may have. */
function readLimit(): number | undefined {
  try {
    const [, most] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return most === undefined ? undefined : Number(most);
  } catch {
    return undefined;
  }
}
