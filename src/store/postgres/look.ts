/** How far threads and runs have come, in one question. */
import { threadStream } from '../../thread/events.ts';
import type { Found } from './follower.ts';
import { UNTOLD } from './hints.ts';
import type { Session } from './sessions.ts';

const LOOK = `SELECT 1 AS is_thread, asked.id, newest.version AS at, EXISTS (SELECT 1 FROM events
    WHERE events.stream = asked.stream AND events.version > asked.version AND events.type <> '${UNTOLD}') AS is_moved
  FROM unnest(@threads::text[], @streams::text[], @versions::bigint[]) AS asked (id, stream, version)
  CROSS JOIN LATERAL (SELECT max(events.version) AS version FROM events WHERE events.stream = asked.stream) AS newest
  WHERE newest.version > asked.version
  UNION ALL SELECT 0, asked.run, newest.last, false FROM unnest(@runs::text[]) AS asked (run)
  CROSS JOIN LATERAL (SELECT max(frames.last) AS last FROM frames WHERE frames.run = asked.run) AS newest
  WHERE newest.last IS NOT NULL`;

/** What has changed among threads whose versions are known, and among runs. */
export async function lookAt(
  session: Session,
  threads: ReadonlyMap<string, number>,
  runs: readonly string[],
): Promise<Found> {
  const found = await session.ask<{ is_thread: number; id: string; at: number; is_moved: number }>(LOOK, {
    threads: [...threads.keys()],
    streams: [...threads.keys()].map(threadStream),
    versions: [...threads.values()].map(String),
    runs,
  });
  return {
    threads: found.flatMap(({ is_thread: isThread, id, at, is_moved: isMoved }) =>
      isThread === 1 ? [{ threadId: id, version: at, isMoved: isMoved === 1 }] : [],
    ),
    runs: found.flatMap(({ is_thread: isThread, id, at }) =>
      isThread === 0 ? [{ runId: id, last: at }] : [],
    ),
  };
}
