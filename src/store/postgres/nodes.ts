/** This server among the nodes of a database: a thread renews it (renewal-entry.ts), and the database's clock is its own. */
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
import {
  CELL_BYTES,
  CELLS,
  type RenewalAnswer,
  type RenewalOrder,
  type RenewalSetup,
} from './renewal-protocol.ts';
import { SHARED_CONTEXT } from './shared.ts';

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
  const cells = new SharedArrayBuffer(CELL_BYTES);
  const state = new BigInt64Array(cells);
  let thread: Worker | undefined;
  let settle: ((answer: RenewalAnswer) => void) | undefined;

  function start(): Worker {
    const started = startWorker('store/postgres/renewal-entry', { url, cells } satisfies RenewalSetup);
    // A server that has nothing else to do may end.
    started.unref();
    started.on('message', (answer: RenewalAnswer) => settle?.(answer));
    const lose = (): void => {
      if (thread !== started) return;
      thread = undefined;
      settle?.({ kind: 'failed', message: 'the thread that renews the node has ended' });
    };
    started.on('error', lose);
    started.on('exit', lose);
    return started;
  }

  const order = (given: RenewalOrder): Promise<RenewalAnswer> =>
    new Promise((resolve) => {
      settle = resolve;
      (thread ??= start()).postMessage(given);
    });

  function follow(): void {
    const since = processTime() - Atomics.load(state, CELLS.at);
    clock.follow?.(Number(Atomics.load(state, CELLS.time)) + Number(since) / MS);
  }

  const renewals: Renewals = {
    async join(id, instead) {
      const answer = await order({ kind: 'join', id, instead });
      if (answer.kind === 'failed') throw new LogUnavailable(answer.message);
      follow();
    },
    look() {
      follow();
      const silentMs = Number(processTime() - Atomics.load(state, CELLS.last)) / MS;
      return {
        last: real.monotonic() - silentMs,
        isRefused: Atomics.load(state, CELLS.isRefused) === 1n,
      };
    },
  };
  const membership = await openMembership({ renewals, clock: real, newId: newToken });
  return {
    nodes: createSharedNodes(SHARED_CONTEXT, run, membership),
    async leave() {
      membership.stop();
      if (thread !== undefined) await within(real, MAX_LEAVE_MS, order({ kind: 'leave' }));
      await thread?.terminate();
    },
  };
}
