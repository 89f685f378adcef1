/** Content that belongs to a run and is found by its id. */
import { kindsWith } from '../../port/kinds.ts';
import type { PayloadWrite } from '../../port/payloads.ts';
import type { Stored } from '../../sql/coder.ts';
import type { Prepare } from '../statements.ts';

type Write = Extract<PayloadWrite, { kind: 'untracked-values' | 'calls' | 'recording' }>;

export const writeRunContent = (prepare: Prepare, { kind, runId, threadId, data }: Write): void =>
  void prepare(
    'INSERT INTO run_contents (run_id, thread_id, kind, data, crc) VALUES (@runId, @threadId, @kind, @data, @crc)',
  ).run({ kind, runId, threadId, ...prepare.coder.columns(data) });

/** In the order of writing. */
const readAll = (prepare: Prepare, kind: Write['kind'], runId: string, limit = -1): Stored[] =>
  prepare('SELECT data FROM run_contents WHERE run_id = ? AND kind = ? ORDER BY id LIMIT ?')
    .pluck()
    .all(runId, kind, limit) as Stored[];

/** The values that a run showed at its end and that no checkpoint holds; the last ones count. */
export function readUntracked(prepare: Prepare, runId: string): string | undefined {
  const data = readAll(prepare, 'untracked-values', runId).at(-1);
  return data && prepare.coder.open(data);
}

/** What the run printed, and its calls. */
export const readCalls = (prepare: Prepare, runId: string): string[] =>
  readAll(prepare, 'calls', runId).map((data) => prepare.coder.open(data));

/** What the run's models and tools answered, one compressed part after the other. */
export const readRecording = (prepare: Prepare, runId: string, limit?: number): Uint8Array[] =>
  readAll(prepare, 'recording', runId, limit).map((part) => prepare.coder.openBytes(part as Uint8Array));

/** Kinds of the runs' content that are erased with their frames, or with all that they say. */
export function forgetRunContents(
  prepare: Prepare,
  what: 'frames' | 'content',
  runIds: readonly string[],
): void {
  const drop = prepare('DELETE FROM run_contents WHERE run_id = ? AND kind = ?');
  const kinds = kindsWith(({ table, erasedWith }) => table === 'run_contents' && erasedWith === what);
  for (const runId of runIds) for (const kind of kinds) drop.run(runId, kind);
}
