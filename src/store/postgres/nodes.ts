/** This server among the nodes of a database: a thread renews it (renewal-entry.ts), and the database's clock is its own. */
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { processTime, systemClock, type Clock, type FollowingClock } from '../../kernel/clock.ts';
import { newToken } from '../../kernel/tokens.ts';
import { within } from '../../kernel/within.ts';
import { startWorker } from '../../kernel/worker.ts';
import { LogUnavailable } from '../port/log-failures.ts';
import type { Nodes } from '../port/nodes.ts';
import { createSharedNodes } from '../sql/shared-nodes.ts';
import type { Run } from '../sql/work.ts';
import { openMembership, type Renewals } from '../sql/membership.ts';
import { SHARED_CONTEXT } from './dialect.ts';
import { CELLS, createCells, type RenewalSetup } from './renewal-protocol.ts';

interface JoinOptions {
  readonly url: string;
  /** Follows the database's. */
  readonly clock: Clock & Partial<FollowingClock>;
  readonly run: Run;
}

export interface Joined {
  readonly nodes: Nodes;
  leave(): Promise<void>;
}

/** A server that stops does not wait longer for a database that is away. */
const MAX_LEAVE_MS = 2_000;
const MS = 1e6;

/** Rejects when the database does not take the node. */
export async function joinNodes({ url, clock, run }: JoinOptions): Promise<Joined> {
  // Real time: the database and other servers live in it.
  const real = systemClock();
  let cells = createCells();
  let thread: Worker | undefined;
  let ended: Promise<unknown> | undefined;

  function follow(): void {
    const since = processTime() - Atomics.load(cells, CELLS.at);
    clock.follow?.(Number(Atomics.load(cells, CELLS.time)) + Number(since) / MS);
  }

  const renewals: Renewals = {
    // Each node has a thread: that of a node which was cut off may still wait for an answer.
    async join(id, instead) {
      await thread?.terminate();
      const setup: RenewalSetup = { url, id, instead, cells: createCells() };
      const started = (thread = startWorker('store/postgres/renewal-entry', setup));
      // A server that has nothing else to do may end.
      started.unref();
      // A thread that fails renews nothing, which cuts the node off.
      started.on('error', () => undefined);
      ended = new Promise((resolve) => started.on('exit', resolve));
      await once(started, 'message').catch(({ message }: Error) => {
        throw new LogUnavailable(message);
      });
      ({ cells } = setup);
      follow();
    },
    look() {
      follow();
      const silentMs = Number(processTime() - Atomics.load(cells, CELLS.last)) / MS;
      return {
        last: real.monotonic() - silentMs,
        isRefused: Atomics.load(cells, CELLS.isRefused) === 1n,
      };
    },
  };
  const membership = await openMembership({ renewals, clock: real, newId: newToken });
  return {
    nodes: createSharedNodes(SHARED_CONTEXT, run, membership),
    async leave() {
      membership.stop();
      thread!.postMessage('leave');
      await within(real, MAX_LEAVE_MS, ended!);
      await thread!.terminate();
    },
  };
}
