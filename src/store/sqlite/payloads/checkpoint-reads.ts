/** Reads checkpoints with their values, and finds those that a filter means. */
import { contains } from '../../../kernel/containment.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import { startTurn } from '../../../kernel/turn.ts';
import type {
  ChannelChoice,
  ChannelText,
  CheckpointFilter,
  StoredCheckpoint,
  WriteText,
} from '../../port/payloads.ts';
import type { Prepare } from '../statements.ts';
import { heldCheckpoint, heldValue, type HeldTexts } from '../../sql/payloads/held-texts.ts';
import { toParts } from '../../sql/payloads/checkpoint-text.ts';
import { toId, toStoredId } from '../../sql/payloads/stored-ids.ts';
import { readText, type CheckpointRow, type TextColumns } from '../../sql/payloads/text-rows.ts';
import { findThread } from '../../sql/payloads/text-threads.ts';
import { readWrites } from './write-reads.ts';

const COLUMNS = 'id, thread, ns, name, run, parent, at, last_frame, bases, data';

/** A checkpoint as its row and text say. */
export interface OpenedCheckpoint {
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly runId: string;
  readonly metadata: JsonObject;
  readonly versions: Readonly<Record<string, string>>;
  readonly valueChannels: readonly string[];
  readonly body: string;
}

export function openCheckpoint(prepare: Prepare, row: CheckpointRow): OpenedCheckpoint {
  const checkpointId = toId(row.name);
  const { metadata, versions, valueChannels, body } = toParts(
    prepare.driver.run(readText(prepare.driver.context, 'texts', row)),
  );
  const parse = (text: string): unknown => fromStored(text, 'part of checkpoint', checkpointId);
  return {
    checkpointId,
    parentId: row.parent === null ? null : toId(row.parent),
    runId: toId(row.run),
    metadata: parse(metadata) as JsonObject,
    versions: parse(versions) as Record<string, string>,
    valueChannels: parse(valueChannels) as string[],
    body,
  };
}

/** `held`: of the connection's writer, if it is the only one of the log. */
export interface PayloadSource {
  readonly prepare: Prepare;
  readonly held?: HeldTexts | undefined;
}

/** The latest one of the namespace without an id. */
export const findCheckpoint = (
  { prepare, held }: PayloadSource,
  threadId: string,
  ns: string,
  checkpointId?: string,
): CheckpointRow | undefined =>
  (held && heldCheckpoint(held, threadId, ns, checkpointId)) ??
  (prepare(
    `SELECT ${COLUMNS} FROM texts WHERE thread = @thread AND kind = 'c' AND ns = @ns
     ${checkpointId === undefined ? 'ORDER BY id DESC LIMIT 1' : 'AND name = @name'}`,
  ).get({
    ...{ thread: prepare.driver.run(findThread(threadId)), ns },
    ...(checkpointId !== undefined && { name: toStoredId(checkpointId) }),
  }) as CheckpointRow | undefined);

/** All of the thread in the order of saving, at most so many. */
export const listCheckpoints = (prepare: Prepare, threadId: string): CheckpointRow[] =>
  prepare(`SELECT ${COLUMNS} FROM texts WHERE thread = ? AND kind = 'c' ORDER BY id`).all(
    prepare.driver.run(findThread(threadId)),
  ) as CheckpointRow[];

export const readCheckpointRow = (prepare: Prepare, id: number): CheckpointRow | undefined =>
  prepare(`SELECT ${COLUMNS} FROM texts WHERE id = ? AND kind = 'c'`).get(id) as CheckpointRow | undefined;

/** Values of these channels under the checkpoint's versions, as far as they are stored. */
export function readValues(
  { prepare, held }: PayloadSource,
  threadId: string,
  { thread, ns }: Pick<CheckpointRow, 'thread' | 'ns'>,
  versions: Readonly<Record<string, string>>,
  channels: readonly string[] = Object.keys(versions),
): ChannelText[] {
  const find = prepare(
    "SELECT id, bases, data FROM texts WHERE thread = ? AND kind = 'v' AND ns = ? AND name = ? AND version = ?",
  );
  return channels.flatMap((channel) => {
    const version = versions[channel];
    if (version === undefined) return [];
    const known = held && heldValue(held, threadId, ns, channel, version);
    if (known !== undefined) return [{ channel, version, data: known }];
    const row = find.get(thread, ns, channel, version) as TextColumns | undefined;
    return row === undefined
      ? []
      : [{ channel, version, data: prepare.driver.run(readText(prepare.driver.context, 'texts', row)) }];
  });
}

export function readCheckpoint(
  source: PayloadSource,
  threadId: string,
  row: CheckpointRow,
  choice?: ChannelChoice,
): StoredCheckpoint {
  const { prepare } = source;
  const { versions, runId: _, valueChannels, ...opened } = openCheckpoint(prepare, row);
  const writes = readWrites(prepare, row.thread, row.ns, opened.checkpointId);
  const channels = choice && chosen(Object.keys(versions), valueChannels, writes, choice);
  return {
    ...opened,
    ns: row.ns,
    blobs: readValues(source, threadId, row, versions, channels),
    valueChannels,
    writes,
    at: row.at,
  };
}

function chosen(
  channels: readonly string[],
  values: readonly string[],
  writes: readonly WriteText[],
  { names, written }: ChannelChoice,
): string[] {
  const left = new Set(values);
  for (const name of names) left.delete(name);
  if (written) for (const { channel } of writes) left.delete(channel);
  return channels.filter((channel) => !left.has(channel));
}

/** Newest first. */
export async function readCheckpoints(
  prepare: Prepare,
  threadId: string,
  filter: CheckpointFilter,
): Promise<StoredCheckpoint[]> {
  const { limit = Infinity, maxChars = Infinity, metadata, choice } = filter;
  const stored: StoredCheckpoint[] = [];
  let size = 0;
  const turn = startTurn();
  for (const id of findIds(prepare, threadId, filter)) {
    if (stored.length >= limit || size >= maxChars) break;
    // Read after every pause: the thread may be gone by now.
    const row = readCheckpointRow(prepare, id);
    if (row === undefined) continue;
    if (metadata === undefined || contains(openCheckpoint(prepare, row).metadata, metadata)) {
      const checkpoint = readCheckpoint({ prepare }, threadId, row, choice);
      for (const { data } of checkpoint.blobs) size += data.length;
      stored.push(checkpoint);
    }
    await turn();
  }
  return stored;
}

function findIds(prepare: Prepare, threadId: string, filter: CheckpointFilter): number[] {
  const { ns, before, limit, metadata } = filter;
  const inNs = ns === undefined ? '' : 'AND ns = @ns';
  // Graphs may give the same id in several namespaces.
  const isBefore = `AND id < (SELECT min(id) FROM texts WHERE thread = @thread AND kind = 'c' AND name = @before ${inNs})`;
  return prepare(
    `SELECT id FROM texts WHERE thread = @thread AND kind = 'c' ${inNs} ${before === undefined ? '' : isBefore}
     ORDER BY id DESC LIMIT @limit`,
  )
    .pluck()
    .all({
      ...{
        thread: prepare.driver.run(findThread(threadId)),
        limit: metadata === undefined ? (limit ?? -1) : -1,
      },
      ...(ns !== undefined && { ns }),
      ...(before !== undefined && { before: toStoredId(before) }),
    }) as number[];
}

/** The last frame that the run had when it saved the checkpoint of its root graph. */
export function findLastFrameAt(
  prepare: Prepare,
  { runId, threadId }: { readonly runId: string; readonly threadId: string },
  checkpointId: string,
): number | undefined {
  const row = findCheckpoint({ prepare }, threadId, '', checkpointId);
  return row === undefined || toId(row.run) !== runId ? undefined : (row.last_frame ?? undefined);
}
