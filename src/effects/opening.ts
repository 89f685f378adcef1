/** Builds the start of an attempt: one commit starts it and stores its first frame, so a running run always has one. */
import type { InlineStart } from '../actors/inline-start.ts';
import type { Lease } from '../store/port/log.ts';
import type { SubgraphLedger } from '../protocol/subgraph-frames.ts';
import type { RunRef } from '../thread/events.ts';

export interface Opening extends Pick<InlineStart, 'command' | 'payloads'> {
  readonly lease: Lease;
  /** Id of the attempt's first frame. */
  readonly first: number;
  /** Subgraphs that frames of earlier attempts have reported. */
  readonly ledger?: SubgraphLedger | undefined;
  /** Reads the secret row of the run. */
  readonly secret: () => Promise<string | undefined>;
}

/** `incarnation`: the node that executes the attempt. */
export function openingOf(
  { runId, threadId }: RunRef,
  lease: Lease,
  first: number,
  incarnation: string,
): Omit<Opening, 'secret'> {
  const metadata = { event: 'metadata', data: JSON.stringify({ run_id: runId, attempt: lease.attempt }) };
  return {
    lease,
    first,
    command: { type: 'StartRun', runId, leaseId: lease.leaseId, incarnation },
    payloads: [{ kind: 'frames', runId, threadId, first, frames: [metadata] }],
  };
}
