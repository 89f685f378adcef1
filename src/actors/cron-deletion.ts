/** What the deletion of crons is made of. L3, A4: it takes their facts and what they kept of their makers with it. */
import { cronStream } from '../cron/events.ts';
import type { Append } from '../log/log.ts';
import type { PayloadWrite } from '../log/payloads.ts';
import type { CronEnd } from '../projections/cron-queries.ts';

/** For one commit. It conflicts when one of them has changed since its version was read: read again then. */
export function deletionOf(crons: readonly CronEnd[]): { appends: Append[]; payloads: PayloadWrite[] } {
  return {
    appends: crons.map(({ cronId, version }) => ({
      stream: cronStream(cronId),
      expected: version,
      events: [{ type: 'CronDeleted', data: { cronId } }],
      snapshot: { status: 'deleted', cronId },
    })),
    payloads: crons.flatMap(({ cronId, version }) => [
      { kind: 'purge-stream', stream: cronStream(cronId), tombstone: version + 1 } as const,
      { kind: 'erase-cron-secret', cronId } as const,
    ]),
  };
}
