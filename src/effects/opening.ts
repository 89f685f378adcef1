/** The start of an attempt: one commit starts the attempt and opens its stream, so a running run has its first frame. */
import type { InlineStart } from '../actors/inline-start.ts';
import type { Lease } from '../log/log.ts';
import type { SubgraphLedger } from '../protocol/subgraph-frames.ts';
import type { RunRef } from '../thread/events.ts';

/** An attempt that is about to begin. */
export interface Opening extends Pick<InlineStart, 'command' | 'payloads'> {
  readonly lease: Lease;
  /** The id of its first frame. */
  readonly first: number;
  /** Subgraphs that earlier attempts have told of. */
  readonly ledger?: SubgraphLedger | undefined;
}

/** `incarnation`: the life of this server. */
export function openingOf(
  { runId, threadId }: RunRef,
  lease: Lease,
  first: number,
  incarnation: string,
): Opening {
  const metadata = { event: 'metadata', data: JSON.stringify({ run_id: runId, attempt: lease.attempt }) };
  return {
    lease,
    first,
    command: { type: 'StartRun', runId, leaseId: lease.leaseId, incarnation },
    payloads: [{ kind: 'frames', runId, threadId, first, frames: [metadata] }],
  };
}
