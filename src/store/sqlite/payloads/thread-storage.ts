/** What is stored of a thread's checkpoints, seen without reading the values. */
import type { CheckpointOutline, StorageSum, StorageUse } from '../../port/payloads.ts';
import type { Prepare } from '../statements.ts';
import { listCheckpoints, openCheckpoint } from './checkpoint-reads.ts';
import { toId, type StoredId } from '../../sql/payloads/stored-ids.ts';
import { findThread } from '../../sql/payloads/text-threads.ts';
import { readParts } from './write-reads.ts';

/** Newest first. */
export function readOutline(prepare: Prepare, threadId: string): CheckpointOutline[] {
  const channels = prepare("SELECT parts FROM texts WHERE thread = ? AND kind = 'w' AND ns = ? AND name = ?");
  return listCheckpoints(prepare, threadId)
    .reverse()
    .map((row) => {
      const { versions: _, valueChannels: __, ...opened } = openCheckpoint(prepare, row);
      const rows = channels.all(row.thread, row.ns, row.name) as { parts: string }[];
      const written = rows.flatMap((each) =>
        readParts(each).flatMap(([, , writes]) => writes.map(([, channel]) => channel)),
      );
      return { ns: row.ns, ...opened, written: [...new Set(written)] };
    });
}

interface Stored extends StorageSum {
  readonly kind: 'c' | 'v' | 'w';
  readonly name: StoredId;
  readonly parts: string | null;
}

export function readStorage(prepare: Prepare, threadId: string): StorageUse {
  const rows = prepare(
    `SELECT kind, name, parts, 1 AS count, octet_length(data) AS bytes FROM texts WHERE thread = ? ORDER BY kind, name`,
  ).all(prepare.driver.run(findThread(threadId))) as Stored[];
  const sum = (of: readonly Stored[], countOf = (_row: Stored): number => 1): StorageSum => ({
    count: of.reduce((count, row) => count + countOf(row), 0),
    bytes: of.reduce((bytes, row) => bytes + row.bytes, 0),
  });
  const ofKind = (kind: Stored['kind']): Stored[] => rows.filter((row) => row.kind === kind);
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
