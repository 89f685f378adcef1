/** What is stored of a thread's checkpoints, seen without reading the values. */
import type { CheckpointOutline, StorageSum, StorageUse } from '../../port/payloads.ts';
import { rows, type Work, type WorkContext } from '../work.ts';
import { listCheckpoints, openCheckpoint } from './checkpoint-reads.ts';
import { toId, toStoredId, type StoredId } from './stored-ids.ts';
import { readTexts } from './text-rows.ts';
import { THREAD } from './text-threads.ts';
import { readParts } from './write-reads.ts';

/** Newest first. */
export function* readOutline(context: WorkContext, threadId: string): Work<CheckpointOutline[]> {
  const saved = yield* listCheckpoints(context, threadId);
  const texts = yield* readTexts(context, 'texts', saved);
  const written: readonly { ns: string; name: StoredId; parts: string }[] = yield rows(
    `SELECT ns, name, parts FROM texts WHERE thread = ${THREAD} AND kind = 'w' ORDER BY ${context.order}`,
    { thread: toStoredId(threadId) },
  );
  const byCheckpoint = Map.groupBy(written, ({ ns, name }) => JSON.stringify([ns, toId(name)]));
  return saved
    .map((row, index) => {
      const { versions: _, valueChannels: __, ...opened } = openCheckpoint(row, texts[index]!);
      const channels = (byCheckpoint.get(JSON.stringify([row.ns, opened.checkpointId])) ?? []).flatMap(
        (each) => readParts(each).flatMap(([, , writes]) => writes.map(([, channel]) => channel)),
      );
      return { ns: row.ns, ...opened, written: [...new Set(channels)] };
    })
    .reverse();
}

interface Stored extends StorageSum {
  readonly kind: 'c' | 'v' | 'w';
  readonly name: StoredId;
  readonly parts: string | null;
}

export function* readStorage(threadId: string): Work<StorageUse> {
  const found: readonly Stored[] = yield rows(
    `SELECT kind, name, parts, 1 AS count, octet_length(data) AS bytes FROM texts
     WHERE thread = ${THREAD} ORDER BY kind, name`,
    { thread: toStoredId(threadId) },
  );
  const sum = (of: readonly Stored[], countOf = (_row: Stored): number => 1): StorageSum => ({
    count: of.reduce((count, row) => count + countOf(row), 0),
    bytes: of.reduce((bytes, row) => bytes + row.bytes, 0),
  });
  const ofKind = (kind: Stored['kind']): Stored[] => found.filter((row) => row.kind === kind);
  return {
    checkpoints: sum(ofKind('c')),
    channels: [...Map.groupBy(ofKind('v'), ({ name }) => toId(name))].map(([channel, values]) => ({
      channel,
      ...sum(values),
    })),
    writes: sum(ofKind('w'), ({ parts }) =>
      readParts({ parts: parts! }).reduce((count, [, , writes]) => count + writes.length, 0),
    ),
  };
}
