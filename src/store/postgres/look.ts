/** How far threads and runs have come, and the newest frames of runs, in one question each. */
import { threadStream } from '../../thread/events.ts';
import type { Notice } from '../port/log.ts';
import type { StoredFrame } from '../port/payloads.ts';
import { splitFrames, type FramesRow } from '../sql/payloads/frame-reads.ts';
import { readTexts } from '../sql/payloads/text-rows.ts';
import { rows, type Work, type WorkContext } from '../sql/work.ts';
import type { Found } from '../sql/follower.ts';
import { UNTOLD } from '../sql/hints.ts';
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

/** S3 Rows of frames that are read at once, for each run, and what one of them may have. */
const MAX_ROWS = 8;
const MAX_ROW_BYTES = 16_384;

const NEXT_FRAMES = `SELECT asked.key AS run_id, found.id, found.first, found.last, found.at, found.parts, found.bases, found.size,
    CASE WHEN coalesce(found.size, octet_length(found.data)) <= ${MAX_ROW_BYTES} THEN found.data END AS data
  FROM json_each_text(@after::json) AS asked CROSS JOIN LATERAL (SELECT * FROM frames
    WHERE frames.run = asked.key AND frames.last > asked.value::bigint ORDER BY frames.last LIMIT ${MAX_ROWS}) AS found
  ORDER BY asked.key, found.last`;

type NextRow = FramesRow & { readonly run_id: string };

/** The next frames of runs after these ids, up to a large one. */
export function* nextFrames(
  context: WorkContext,
  after: ReadonlyMap<string, number>,
): Work<Notice['frames']> {
  const found: (NextRow & { data: NextRow['data'] | null })[] = yield rows(NEXT_FRAMES, {
    after: JSON.stringify(Object.fromEntries(after)),
  });
  const large = new Set<string>();
  const fitting = found.filter(({ run_id: runId, data }) => {
    if (data === null) large.add(runId);
    return !large.has(runId);
  });
  const texts = yield* readTexts(context, 'frames', fitting);
  const frames = new Map<string, StoredFrame[]>();
  for (const [index, row] of fitting.entries()) {
    const own = frames.get(row.run_id) ?? [];
    frames.set(row.run_id, own);
    own.push(...splitFrames(row, texts[index]!));
  }
  return frames;
}
