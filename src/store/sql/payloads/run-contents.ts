/** Content that belongs to a run and is found by its id. */
import { kindsWith } from '../../port/kinds.ts';
import type { PayloadWrite } from '../../port/payloads.ts';
import type { Stored } from '../coder.ts';
import { rows, write, type Step, type Work, type WorkContext } from '../work.ts';

type Write = Extract<PayloadWrite, { kind: 'untracked-values' | 'calls' | 'recording' }>;

export const writeRunContent = ({ coder }: WorkContext, { kind, runId, threadId, data }: Write): Step =>
  write(
    'INSERT INTO run_contents (run_id, thread_id, kind, data, crc) VALUES (@runId, @threadId, @kind, @data, @crc)',
    { kind, runId, threadId, ...coder.columns(data) },
    // Rows of a run are in order.
    [`run_contents ${runId}`],
  );

/** In the order of writing. */
function* readParts(
  { order }: WorkContext,
  kind: Write['kind'],
  runId: string,
  limit = Number.MAX_SAFE_INTEGER,
): Work<Stored[]> {
  const found: { data: Stored }[] = yield rows(
    `SELECT data FROM run_contents WHERE run_id = ? AND kind = ? ORDER BY ${order} LIMIT ?`,
    [runId, kind, limit],
  );
  return found.map(({ data }) => data);
}

/** The values that a run showed at its end and that no checkpoint holds; the last ones count. */
export function* readUntracked(context: WorkContext, runId: string): Work<string | undefined> {
  const data = (yield* readParts(context, 'untracked-values', runId)).at(-1);
  return data && context.coder.open(data);
}

/** What the run printed, and its calls. */
export function* readCalls(context: WorkContext, runId: string): Work<string[]> {
  return (yield* readParts(context, 'calls', runId)).map((data) => context.coder.open(data));
}

/** What the run's models and tools answered, one compressed part after the other. */
export function* readRecording(context: WorkContext, runId: string, limit?: number): Work<Uint8Array[]> {
  const parts = yield* readParts(context, 'recording', runId, limit);
  return parts.map((part) => context.coder.openBytes(part as Uint8Array));
}

/** Kinds of the runs' content that are erased with their frames, or with all that they say. */
export function* forgetRunContents(what: 'frames' | 'content', runIds: readonly string[]): Work<void> {
  const kinds = kindsWith(({ table, erasedWith }) => table === 'run_contents' && erasedWith === what);
  for (const runId of runIds)
    for (const kind of kinds)
      yield write('DELETE FROM run_contents WHERE run_id = ? AND kind = ?', [runId, kind]);
}
