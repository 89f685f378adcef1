/** Builds the commit that deletes crons. L3 A4 It also purges their events and erases the secrets of their creators. */
import { cronStream } from '../cron/events.ts';
import type { Append } from '../store/port/log.ts';
import type { PayloadWrite } from '../store/port/payloads.ts';
import type { CronEnd } from '../store/port/views/crons.ts';

/** The writes belong into one commit. It conflicts when a cron has changed since `version`: read again then. */
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
