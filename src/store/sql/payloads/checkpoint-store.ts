/**
 * Checkpoints, values of channels and writes of tasks, written inside the commit's transaction. P3 A conversation is
 * stored once: a checkpoint differs from the one before it in its namespace, a value from the latest of its channel. What
 * is new in a value mostly was the graph's input or was written by a task right before, so it differs from those, too.
 */
import type { ChannelText, PayloadWrite, WriteText } from '../../port/payloads.ts';
import { rows, write as step, type StepParams, type Work, type WorkContext } from '../work.ts';
import { COMMON, joinParts, namesOf } from './checkpoint-text.ts';
import { heldKey } from './held-texts.ts';
import { insertText, lockThread, type PayloadStore } from './shared-texts.ts';
import { toStoredId } from './stored-ids.ts';
import { encodeText, loadBase, makeDependantsWhole, type BaseText } from './text-rows.ts';
import { threadOf } from './text-threads.ts';
import type { WriteParts } from './write-reads.ts';

/** For a shorter value the channel's latest is not read, in UTF-16 units. */
const SHORTEST = 256;
/** Shorter texts are stored whole, and are no bases of others but of the channel's next value. */
const SHORTEST_NEAR = 64;
/** Of all texts that a value may be made of. */
const LONGEST_NEAR = 262_144;
/** A write of this length may be the whole value of its channel. */
const LIKE_A_VALUE = 1024;
/** A write of this part of a value's length is most likely that value. */
const MOST = 3 / 4;
/** The channel that has a graph's input until its first step is done. */
const INPUT = '__start__';

type Write<K extends PayloadWrite['kind']> = Extract<PayloadWrite, { kind: K }>;

interface NamespaceRef {
  readonly threadId: string;
  readonly ns: string;
}

export function* writeCheckpoint(store: PayloadStore, write: Write<'checkpoint'>, at: number): Work<void> {
  const { threadId, runId, checkpoint, lastFrame, at: savedAt } = write;
  const { ns, checkpointId, parentId, body } = checkpoint;
  const place = { threadId, ns };
  for (const blob of checkpoint.blobs) {
    const near = [checkpointId, parentId].flatMap((id) =>
      id === null ? [] : nearOf(store, place, id, blob.channel),
    );
    const value = yield* writeValue(store, place, blob, { near, isFirst: parentId === null });
    if (value !== undefined && blob.channel === INPUT) holdNear(store, place, checkpointId, INPUT, value);
  }
  yield* writeCheckpointRow(store, {
    ...{ ...place, runId, checkpointId, parentId, at: savedAt ?? at, lastFrame: lastFrame ?? null },
    text: joinParts({
      metadata: JSON.stringify(checkpoint.metadata),
      versions: JSON.stringify(checkpoint.channelVersions),
      valueChannels: JSON.stringify(checkpoint.valueChannels),
      body,
    }),
  });
}

export interface NewCheckpointRow extends NamespaceRef {
  readonly runId: string;
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly at: number;
  readonly lastFrame: number | null;
  readonly text: string;
}

export function* writeCheckpointRow(store: PayloadStore, saved: NewCheckpointRow): Work<void> {
  const { context, held } = store;
  const { threadId, ns, runId, checkpointId, parentId, at, lastFrame, text } = saved;
  const thread = yield* threadOf(store, threadId);
  const [name, run] = [toStoredId(checkpointId), toStoredId(runId)];
  const parent = parentId === null ? null : toStoredId(parentId);
  const key = heldKey('c', threadId, ns, '');
  const latest = held.of(key);
  const isKnown = latest.length > 0 || parentId === null || held.isNew(threadId);
  const last = isKnown ? latest : yield* findLatest(store, thread, ns);
  const names = namesOf({ thread: threadId, run, parent, name });
  const following = last.length === 0 ? undefined : encodeText(context, text, last, names);
  const encoded =
    following !== undefined && following.bases !== null
      ? following
      : encodeText(context, text, [], COMMON + names);
  const row = { thread, ns, name, run, parent, at, last_frame: lastFrame };
  const checkpoint = yield* insertText(store, { ...row, kind: 'c', version: '' }, text, encoded);
  if (checkpoint !== undefined) held.set(key, [{ ...checkpoint, row }]);
  else yield* replaceCheckpoint(store, thread, saved);
}

/** A checkpoint that was there keeps its ids. */
function* replaceCheckpoint(
  store: PayloadStore,
  thread: number,
  { ns, checkpointId, lastFrame, text }: NewCheckpointRow,
): Work<void> {
  const { context, held } = store;
  yield* lockThread(store, thread, 'takeRows');
  const found: readonly { id: number }[] = yield rows(
    "SELECT id FROM texts WHERE thread = ? AND kind = 'c' AND ns = ? AND name = ?",
    [thread, ns, toStoredId(checkpointId)],
  );
  yield* makeDependantsWhole(context, 'texts', thread, new Set(found.map(({ id }) => id)));
  held.forget();
  for (const { id } of found)
    yield step(
      'UPDATE texts SET bases = NULL, size = NULL, data = @data, crc = @crc, last_frame = @lastFrame WHERE id = @id',
      { id, ...context.coder.columns(text), lastFrame },
    );
}

const findLatest = ({ context }: PayloadStore, thread: number, ns: string): Work<readonly BaseText[]> =>
  loadFound(
    context,
    `SELECT id FROM texts WHERE thread = ? AND kind = 'c' AND ns = ? ORDER BY ${context.order} DESC LIMIT 1`,
    [thread, ns],
  );

const findLatestValue = (
  { context }: PayloadStore,
  thread: number,
  ns: string,
  channel: string,
): Work<readonly BaseText[]> =>
  loadFound(
    context,
    "SELECT id FROM texts WHERE thread = ? AND kind = 'v' AND ns = ? AND name = ? ORDER BY version DESC LIMIT 1",
    [thread, ns, channel],
  );

function* loadFound(context: WorkContext, sql: string, params: StepParams): Work<readonly BaseText[]> {
  const [found]: readonly { id: number }[] = yield rows(sql, params);
  return found === undefined ? [] : [yield* loadBase(context, 'texts', found.id)];
}

/** `isFirst`: no checkpoint of the namespace precedes the value's. */
function* writeValue(
  store: PayloadStore,
  { threadId, ns }: NamespaceRef,
  { channel, version, data }: ChannelText,
  { near, isFirst, runId }: { near: readonly BaseText[]; isFirst: boolean; runId?: string },
): Work<BaseText | undefined> {
  const { context, held } = store;
  const thread = yield* threadOf(store, threadId);
  const key = heldKey('v', threadId, ns, channel);
  const isLong = data.length >= SHORTEST;
  const known = held.of(key);
  const isKnown = !isLong || known.length > 0 || isFirst || held.isNew(threadId);
  const latest = isKnown ? known : yield* findLatestValue(store, thread, ns, channel);
  const bases = [...near.filter(({ text }) => text.length >= data.length * MOST), ...latest, ...near];
  const run = runId === undefined ? null : toStoredId(runId);
  const value = yield* insertText(
    store,
    { thread, kind: 'v', ns, name: channel, version, run },
    data,
    encodeText(context, data, data.length < SHORTEST_NEAR ? [] : bases),
  );
  if (value !== undefined) held.set(key, [{ ...value, version }]);
  return value;
}

export function* writeValues(
  store: PayloadStore,
  { threadId, runId, ns, values }: Write<'channel-values'>,
): Work<void> {
  for (const value of values)
    yield* writeValue(store, { threadId, ns }, value, { near: [], isFirst: false, runId });
}

const nearKey = ({ threadId, ns }: NamespaceRef, checkpointId: string, channel: string): string =>
  heldKey('w', threadId, ns, `${checkpointId} ${channel}`);

/** What a value of the channel in this checkpoint or the next one may be made of. */
const nearOf = (
  { held }: PayloadStore,
  place: NamespaceRef,
  checkpointId: string,
  channel: string,
): readonly BaseText[] => [channel, INPUT].flatMap((name) => held.of(nearKey(place, checkpointId, name)));

function holdNear(
  { held }: PayloadStore,
  place: NamespaceRef,
  checkpointId: string,
  channel: string,
  text: BaseText,
): void {
  const key = nearKey(place, checkpointId, channel);
  const near = held.of(key);
  const size = near.reduce((sum, other) => sum + other.text.length, text.text.length);
  if (text.text.length >= SHORTEST_NEAR && size <= LONGEST_NEAR) held.set(key, [...near, text]);
}

function partsOf(writes: readonly WriteText[]): WriteParts {
  const parts: [string, string, [number, string, number][]][] = [];
  for (const { taskId, taskPath = '', idx, channel, data } of writes) {
    const last = parts.at(-1);
    const write: [number, string, number] = [idx, channel, data.length];
    if (last?.[0] === taskId && last[1] === taskPath) last[2].push(write);
    else parts.push([taskId, taskPath, [write]]);
  }
  return parts;
}

/** A later write of a task and index counts when they are read; without its run the earlier one does again. */
export function* writeWrites(store: PayloadStore, write: Write<'checkpoint-writes'>): Work<void> {
  // A row that a value is made of costs the value's reader all that it has.
  const [short, long] = [false, true].map((isLong) =>
    write.writes.filter(({ data }) => data.length >= LIKE_A_VALUE === isLong),
  ) as [WriteText[], WriteText[]];
  for (const writes of [...(short.length > 0 ? [short] : []), ...long.map((each) => [each])])
    yield* writeRow(store, { ...write, writes });
}

function* writeRow(store: PayloadStore, write: Write<'checkpoint-writes'>): Work<void> {
  const { threadId, runId, ns, checkpointId, writes } = write;
  const { context, held } = store;
  const place = { threadId, ns };
  const text = writes.map(({ data }) => data).join('');
  const channels = [...new Set(writes.map(({ channel }) => channel))];
  const values =
    text.length < LIKE_A_VALUE
      ? []
      : channels.flatMap((channel) => held.of(heldKey('v', threadId, ns, channel)));
  const near = channels.flatMap((channel) => nearOf(store, place, checkpointId, channel));
  const bases = text.length < SHORTEST_NEAR ? [] : [...values, ...near];
  const thread = yield* threadOf(store, threadId);
  const row = yield* insertText(
    store,
    {
      ...{ thread, kind: 'w', ns, name: toStoredId(checkpointId), version: null },
      ...{ run: toStoredId(runId), parts: JSON.stringify(partsOf(writes)) },
    },
    text,
    encodeText(context, text, bases),
  );
  for (const channel of channels) holdNear(store, place, checkpointId, channel, row!);
}
