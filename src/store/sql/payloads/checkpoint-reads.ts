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
import { rows, type Run, type Work, type WorkContext } from '../work.ts';
import { toParts } from './checkpoint-text.ts';
import { heldCheckpoint, heldValue, type HeldTexts } from './held-texts.ts';
import { toId, toStoredId } from './stored-ids.ts';
import { readText, readTexts, type CheckpointRow, type TextColumns } from './text-rows.ts';
import { THREAD } from './text-threads.ts';
import { readWrites } from './write-reads.ts';

const CHECKPOINTS = `SELECT id, thread, ns, name, run, parent, at, last_frame, bases, data FROM texts`;

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

/** `text`: of the row. */
export function openCheckpoint(row: CheckpointRow, text: string): OpenedCheckpoint {
  const checkpointId = toId(row.name);
  const { metadata, versions, valueChannels, body } = toParts(text);
  const parse = (part: string): unknown => fromStored(part, 'part of checkpoint', checkpointId);
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

/** `held`: of the log's own writer. */
export interface PayloadSource {
  readonly context: WorkContext;
  readonly held?: HeldTexts | undefined;
}

/** The latest one of the namespace without an id. */
export function* findCheckpoint(
  { context, held }: PayloadSource,
  threadId: string,
  ns: string,
  checkpointId?: string,
): Work<CheckpointRow | undefined> {
  const known = held && heldCheckpoint(held, threadId, ns, checkpointId);
  if (known !== undefined) return known;
  const [row]: CheckpointRow[] = yield rows(
    `${CHECKPOINTS} WHERE thread = ${THREAD} AND kind = 'c' AND ns = @ns
     ${checkpointId === undefined ? `ORDER BY ${context.order} DESC LIMIT 1` : 'AND name = @name'}`,
    {
      ...{ thread: toStoredId(threadId), ns },
      ...(checkpointId !== undefined && { name: toStoredId(checkpointId) }),
    },
  );
  return row;
}

/** All of the thread in the order of saving. */
export function* listCheckpoints({ order }: WorkContext, threadId: string): Work<CheckpointRow[]> {
  return yield rows(`${CHECKPOINTS} WHERE thread = ${THREAD} AND kind = 'c' ORDER BY ${order}`, {
    thread: toStoredId(threadId),
  });
}

function* readCheckpointRow(id: number): Work<CheckpointRow | undefined> {
  const [row]: CheckpointRow[] = yield rows(`${CHECKPOINTS} WHERE id = ? AND kind = 'c'`, [id]);
  return row;
}

/** Of values that one statement asks for. */
const MAX_ASKED = 32;

interface ValueRow extends TextColumns {
  readonly name: string;
}

/** Values of these channels under the checkpoint's versions, as far as they are stored. */
export function* readValues(
  { context, held }: PayloadSource,
  threadId: string,
  ns: string,
  versions: Readonly<Record<string, string>>,
  channels: readonly string[] = Object.keys(versions),
): Work<ChannelText[]> {
  const texts = new Map<string, string>();
  const wanted: string[] = [];
  for (const channel of channels) {
    const version = versions[channel];
    const known = version === undefined ? undefined : held && heldValue(held, threadId, ns, channel, version);
    if (known !== undefined) texts.set(channel, known);
    else if (version !== undefined) wanted.push(channel);
  }
  const found: ValueRow[] = [];
  for (let at = 0; at < wanted.length; at += MAX_ASKED)
    found.push(...(yield* findValues(threadId, ns, versions, wanted.slice(at, at + MAX_ASKED))));
  const read = yield* readTexts(context, 'texts', found);
  for (const [index, { name }] of found.entries()) texts.set(name, read[index]!);
  return channels.flatMap((channel) => {
    const data = texts.get(channel);
    return data === undefined ? [] : [{ channel, version: versions[channel]!, data }];
  });
}

function* findValues(
  threadId: string,
  ns: string,
  versions: Readonly<Record<string, string>>,
  channels: readonly string[],
): Work<ValueRow[]> {
  const wanted = channels.map((_, index) => `(@c${index}, @v${index})`);
  const params = channels.flatMap((channel, index) => [
    [`c${index}`, channel],
    [`v${index}`, versions[channel]!],
  ]);
  return yield rows(
    `SELECT id, name, bases, data FROM texts
     WHERE thread = ${THREAD} AND kind = 'v' AND ns = @ns AND (name, version) IN (VALUES ${wanted.join()})`,
    { thread: toStoredId(threadId), ns, ...(Object.fromEntries(params) as Record<string, string>) },
  );
}

export function* readCheckpoint(
  source: PayloadSource,
  threadId: string,
  row: CheckpointRow,
  choice?: ChannelChoice,
): Work<StoredCheckpoint> {
  const { context } = source;
  const text = yield* readText(context, 'texts', row);
  const { versions, runId: _, valueChannels, ...opened } = openCheckpoint(row, text);
  const { checkpointId } = opened;
  const writes = yield* readWrites(context, threadId, { ns: row.ns, checkpointId });
  const channels = choice && chosen(Object.keys(versions), valueChannels, writes, choice);
  return {
    ...opened,
    ns: row.ns,
    blobs: yield* readValues(source, threadId, row.ns, versions, channels),
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
  context: WorkContext,
  run: Run,
  threadId: string,
  filter: CheckpointFilter,
): Promise<StoredCheckpoint[]> {
  const { limit = Infinity, maxChars = Infinity } = filter;
  const stored: StoredCheckpoint[] = [];
  let size = 0;
  const turn = startTurn();
  for (const id of await run(findIds(context, threadId, filter))) {
    if (stored.length >= limit || size >= maxChars) break;
    const checkpoint = await run(readMatching(context, threadId, id, filter));
    if (checkpoint !== undefined) {
      for (const { data } of checkpoint.blobs) size += data.length;
      stored.push(checkpoint);
    }
    await turn();
  }
  return stored;
}

/** Undefined when its metadata does not match, or when the thread has gone meanwhile. */
function* readMatching(
  context: WorkContext,
  threadId: string,
  id: number,
  { metadata, choice }: CheckpointFilter,
): Work<StoredCheckpoint | undefined> {
  const row = yield* readCheckpointRow(id);
  if (row === undefined) return undefined;
  if (metadata !== undefined) {
    const text = yield* readText(context, 'texts', row);
    if (!contains(openCheckpoint(row, text).metadata, metadata)) return undefined;
  }
  return yield* readCheckpoint({ context }, threadId, row, choice);
}

function* findIds({ order }: WorkContext, threadId: string, filter: CheckpointFilter): Work<number[]> {
  const { ns, before, limit, metadata } = filter;
  const inNs = ns === undefined ? '' : 'AND ns = @ns';
  // Graphs may give the same id in several namespaces.
  const isBefore = `AND ${order} < (SELECT min(${order}) FROM texts
    WHERE thread = ${THREAD} AND kind = 'c' AND name = @before ${inNs})`;
  const found: { id: number }[] = yield rows(
    `SELECT id FROM texts WHERE thread = ${THREAD} AND kind = 'c' ${inNs} ${before === undefined ? '' : isBefore}
     ORDER BY ${order} DESC LIMIT @limit`,
    {
      thread: toStoredId(threadId),
      limit: (metadata === undefined ? limit : undefined) ?? Number.MAX_SAFE_INTEGER,
      ...(ns !== undefined && { ns }),
      ...(before !== undefined && { before: toStoredId(before) }),
    },
  );
  return found.map(({ id }) => id);
}

/** The last frame that the run had when it saved the checkpoint of its root graph. */
export function* findLastFrameAt(
  context: WorkContext,
  { runId, threadId }: { readonly runId: string; readonly threadId: string },
  checkpointId: string,
): Work<number | undefined> {
  const row = yield* findCheckpoint({ context }, threadId, '', checkpointId);
  return row === undefined || toId(row.run) !== runId ? undefined : (row.last_frame ?? undefined);
}
