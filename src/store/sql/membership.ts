/**
 * This server's place among the nodes. X1 When renewals have failed for too long, or the store says that the node is gone,
 * listeners hear of it at once, and the server goes on as another node when the store answers again.
 */
import type { Clock } from '../../kernel/clock.ts';
import { MAX_SILENCE_MS } from '../port/nodes.ts';

export interface Renewals {
  /** Makes the node, and renews it from then on. `instead`: the one before, which was cut off. */
  join(id: string, instead?: string): Promise<void>;
  look(): {
    /** When the last renewal that succeeded was asked for, monotonic milliseconds. */
    readonly last: number;
    /** The store has said that the node is gone. */
    readonly isRefused: boolean;
  };
}

export interface Membership {
  /** Undefined while the server is cut off. */
  readonly id: string | undefined;
  onCutOff(listener: () => void): () => void;
  stop(): void;
}

interface MembershipOptions {
  readonly renewals: Renewals;
  /** Its monotonic time is that of the renewals. */
  readonly clock: Clock;
  readonly newId: () => string;
}

const CHECK_MS = 1_000;

/** Joins; rejects when the store does not take the node. */
export async function openMembership({ renewals, clock, newId }: MembershipOptions): Promise<Membership> {
  const listeners = new Set<() => void>();
  const first = newId();
  let id: string | undefined = first;
  let isStopped = false;
  let cancelCheck: () => void = () => undefined;

  function later(work: () => void): void {
    if (!isStopped) cancelCheck = clock.after(CHECK_MS, work);
  }

  function check(): void {
    const { last, isRefused } = renewals.look();
    if (id === undefined || (!isRefused && clock.monotonic() - last <= MAX_SILENCE_MS)) return later(check);
    const old = id;
    id = undefined;
    for (const listener of [...listeners]) listener();
    rejoin(old);
  }

  function rejoin(old: string): void {
    const next = newId();
    renewals.join(next, old).then(
      () => {
        id = next;
        later(check);
      },
      // The log says that the store is away.
      () => later(() => rejoin(old)),
    );
  }

  await renewals.join(first);
  later(check);
  return {
    get id() {
      return id;
    },
    onCutOff(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop() {
      isStopped = true;
      cancelCheck();
    },
  };
}
