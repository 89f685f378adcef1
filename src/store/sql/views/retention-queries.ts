/** A question asks first whether there is anything: a server that never searches has no reader thread, which takes 10 MB. */
import type { EndedAt, OldRun, RetentionViews } from '../../port/views/views.ts';
import type { Ask, Scan } from '../ask.ts';

/** A run that carries its thread goes with it. */
const DUE = 'ended_at < @before AND (ended_at, run_id) > (@endedAt, @runId) AND thread_status IS NULL';

interface Wanted {
  readonly after: EndedAt | undefined;
  readonly before: number;
  readonly looked: number;
}

const paramsOf = ({ after, before }: Wanted) => ({
  before,
  endedAt: after?.endedAt ?? -1,
  runId: after?.runId ?? '',
});

export const retentionViews = (ask: Ask): RetentionViews => ({
  async runsWithFrames(wanted) {
    const sql = `SELECT 1 AS due FROM runs WHERE ${DUE} LIMIT 1`;
    if ((await ask.get(sql, paramsOf(wanted))) === undefined) return { kept: [], next: undefined };
    return ask.scan(RUNS_WITH_FRAMES, wanted);
  },
  hasOldCommands: async (before) =>
    (await ask.get('SELECT 1 AS old FROM commands WHERE at < @before LIMIT 1', { before })) !== undefined,
  async imports() {
    const found = await ask.all<{ storage_key: string; thread_id: string; at: number }>(
      'SELECT * FROM imports',
    );
    return found.map(({ storage_key, thread_id, at }) => ({
      storageKey: storage_key,
      threadId: thread_id,
      at,
    }));
  },
});

export const RUNS_WITH_FRAMES: Scan<[Wanted], { kept: OldRun[]; next: EndedAt | undefined }> = {
  name: 'retention.runsWithFrames',
  async answer(ask, wanted) {
    const ended = await ask.all<{ run_id: string; thread_id: string; ended_at: number; kept: number }>(
      `SELECT run_id, thread_id, ended_at, CASE WHEN EXISTS (
           SELECT 1 FROM frames WHERE frames.run = ${ask.dialect.storedId('runs.run_id')})
         AND NOT EXISTS (
           SELECT 1 FROM threads WHERE threads.thread_id = runs.thread_id AND imported_at >= @before)
         THEN 1 ELSE 0 END AS kept
       FROM runs WHERE ${DUE} ORDER BY ended_at, run_id LIMIT @looked`,
      { ...paramsOf(wanted), looked: wanted.looked },
    );
    const last = ended.at(-1);
    return {
      kept: ended.flatMap((run) => (run.kept === 1 ? [{ runId: run.run_id, threadId: run.thread_id }] : [])),
      next: last && { endedAt: last.ended_at, runId: last.run_id },
    };
  },
};
