/**
 * What is past its time. The sweeper asks every minute, so each looks at little, and first whether there is anything:
 * who never searches has no reader thread, which takes 10 MB.
 */
import type { RowReader } from '../../port/rows.ts';

/** A place in the order in which runs ended. */
export interface EndedAt {
  readonly endedAt: number;
  /** Of the run's row. */
  readonly position: number;
}

export interface OldRun {
  readonly runId: string;
  readonly threadId: string;
}

/**
 * Of the next `looked` runs that ended after `after` and before `before`, those whose frames are still kept and whose
 * thread was not imported since `before`; and where to go on, undefined when that were all. Most runs of old have none:
 * who asks keeps the place.
 */
export async function runsWithOldFrames(
  rows: RowReader,
  { after, before, looked }: { after: EndedAt | undefined; before: number; looked: number },
): Promise<{ kept: OldRun[]; next: EndedAt | undefined }> {
  const place = { before, endedAt: after?.endedAt ?? -1, position: after?.position ?? 0 };
  const due = 'ended_at < @before AND (ended_at, position) > (@endedAt, @position)';
  if (rows.get(`SELECT 1 AS due FROM runs INDEXED BY runs_ended WHERE ${due} LIMIT 1`, place) === undefined)
    return { kept: [], next: undefined };
  const ended = await rows.search<{
    run_id: string;
    thread_id: string;
    ended_at: number;
    position: number;
    kept: number;
  }>(
    `SELECT run_id, thread_id, ended_at, position, EXISTS (
       SELECT 1 FROM frame_runs AS framed WHERE framed.thread_id = runs.thread_id AND framed.run_id = runs.run_id)
         AND NOT EXISTS (SELECT 1 FROM threads WHERE threads.thread_id = runs.thread_id AND imported_at >= @before) AS kept
     FROM runs INDEXED BY runs_ended
     WHERE ${due}
     ORDER BY ended_at, position LIMIT @looked`,
    { ...place, looked },
  );
  const last = ended.at(-1);
  return {
    kept: ended.flatMap((run) => (run.kept === 1 ? [{ runId: run.run_id, threadId: run.thread_id }] : [])),
    next: last && { endedAt: last.ended_at, position: last.position },
  };
}

/** Whether the log still answers for command ids from before that moment, milliseconds since 1970. */
export const hasOldCommands = (rows: RowReader, before: number): boolean =>
  rows.get('SELECT 1 AS old FROM commands INDEXED BY commands_by_age WHERE at < @before LIMIT 1', {
    before,
  }) !== undefined;
