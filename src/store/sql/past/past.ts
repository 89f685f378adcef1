/** The past that an engine's connection sees, as far as all engines read it in the same way. */
import type { ContentCheck, History } from '../../port/past.ts';
import type { Stored } from '../coder.ts';
import { readAll, readStream } from '../event-store.ts';
import { createPayloadReader } from '../payloads/payload-reader.ts';
import type { Projection } from '../projection.ts';
import { projectThread } from '../rows/threads.ts';
import { toThread } from '../views/thread-queries.ts';
import { createViews } from '../views/views.ts';
import { rows, type Run, type Work, type WorkContext } from '../work.ts';
import { findBadChecksum } from './checksums.ts';
import { findBadContent } from './content-checks.ts';
import { createNamedContent } from './named-content.ts';
import { createPastViews } from './past-views.ts';
import type { Reading } from './reading.ts';
import { findDifference } from './row-comparison.ts';

export function createPast(
  { context, run, ask, close }: Reading,
  projection: Projection,
): Omit<History, 'leavesOut' | 'damage'> {
  const payloads = createPayloadReader(context, run);
  return {
    readStream: (stream, from, limit) => run(readStream(context, stream, from, limit)),
    readAll: (after, limit) => run(readAll(context, after, limit)),
    snapshot: (stream) => run(readSnapshot(context, stream)),
    payloads,
    views: createViews(ask, payloads.containing),
    past: createPastViews(context, run),
    project: projectThread,
    threadOf: toThread,
    firstDifference: (onEvents = async () => true) => findDifference(context, run, projection, onEvents),
    eventCount: () => run(countEvents()),
    checkContent: () => createContentCheck(context, run),
    close,
  };
}

function createContentCheck(context: WorkContext, run: Run): ContentCheck {
  const named = createNamedContent(context);
  return {
    add: (events) => run(named.add(events)),
    finding: async () =>
      (await run(named.end())) ??
      (await run(findBadContent(context))) ??
      (await run(findBadChecksum(context))),
  };
}

function* readSnapshot(
  { coder }: WorkContext,
  stream: string,
): Work<{ version: number; state: string } | undefined> {
  const [row]: { version: number; state: Stored }[] = yield rows(
    'SELECT version, state FROM snapshots WHERE stream = ?',
    [stream],
  );
  return row && { ...row, state: coder.open(row.state) };
}

function* countEvents(): Work<number> {
  const [row]: { count: number }[] = yield rows('SELECT count(*) AS count FROM events', []);
  return row!.count;
}
