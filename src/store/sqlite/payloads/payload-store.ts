/** Payload tables: writes inside the commit's transaction, reads of what is committed. */
import { matchesFilter } from '../../../kernel/filter.ts';
import { startTurn } from '../../../kernel/turn.ts';
import { isObject, type JsonObject } from '../../../kernel/json.ts';
import type { JsonText } from '../../../kernel/json-text.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import type {
  AcceptedRequest,
  ChannelChoice,
  PayloadReader,
  PayloadWrite,
  StoredCheckpoint,
  WriteText,
} from '../../port/payloads.ts';
import type { Stored } from '../../sql/coder.ts';
import type { Ask } from '../../sql/ask.ts';
import { createHeldValues } from './held-values.ts';
import { shownValues } from './shown-values.ts';
import { readChannel } from './channel-store.ts';
import { createCheckpointKeys, type CheckpointKeys } from './checkpoint-keys.ts';
import { findCheckpoint, findCheckpoints, type CheckpointRow } from './checkpoint-list.ts';
import { writeCheckpoint, writeValues } from './checkpoint-store.ts';
import { copyCheckpoints, forgetCheckpoints, keepCheckpoints } from './checkpoint-maintenance.ts';
import { findLastFrameAt, findName, findThread, purgeCheckpoints } from './checkpoint-tables.ts';
import { unpackCheckpoint } from './checkpoint-text.ts';
import { forgetCommands, forgetRequests, redactRuns } from '../event-store.ts';
import { createFrameReader, forgetFrames, forgetThreadFrames, writeFrames } from './frame-store.ts';
import { createFrameTail, findTail, type FrameTail } from './frame-tail.ts';
import { readLastConfig } from './last-config.ts';
import { forgetRecordings, forgetThreadRecordings, readRecording, writeRecording } from './recordings.ts';
import { forgetThreadResume, readResume, writeResume } from './resume-calls.ts';
import { readCronSecret, readSecret, writeSecret } from './secrets.ts';
import { readOutline, readStorage } from './thread-storage.ts';
import { writeQueue } from '../queue.ts';
import type { Prepare } from '../statements.ts';
import { readUntracked, writeUntracked } from './untracked-values.ts';
import { readWrites, writeWrites } from './write-store.ts';

export interface PayloadWriter {
  /** All of one batch, inside the commit's transaction. */
  write(payloads: readonly PayloadWrite[], at: number): void;
  /** What was written is undone, all of it or in part. */
  undone(): void;
}

/** For the one connection that writes. */
export function createPayloadWriter(prepare: Prepare, tail = createFrameTail(prepare)): PayloadWriter {
  const store = { prepare, keys: createCheckpointKeys(prepare), tail };
  return {
    write(payloads, at) {
      const ending = new Set(payloads.flatMap((write) => (write.kind === 'end-lease' ? [write.runId] : [])));
      for (const payload of payloads) writePayload(store, payload, at, ending);
    },
    undone() {
      store.keys.forget();
      tail.undone();
    },
  };
}

interface Store {
  readonly prepare: Prepare;
  readonly keys: CheckpointKeys;
  readonly tail: FrameTail;
}

function writePayload(
  { prepare, keys, tail }: Store,
  write: PayloadWrite,
  at: number,
  ending: ReadonlySet<string>,
): void {
  switch (write.kind) {
    case 'end-lease':
      tail.settle(write.runId);
      return;
    case 'queue':
      return writeQueue(prepare, write, at);
    case 'frames':
      writeFrames(prepare, tail, write, at, ending.has(write.runId));
      return;
    case 'untracked-values':
      return writeUntracked(prepare, write);
    case 'recording':
      return writeRecording(prepare, write);
    case 'resume':
    case 'erase-resume':
      return writeResume(prepare, write);
    case 'checkpoint':
      return writeCheckpoint(prepare, keys, write, at);
    case 'channel-values':
      return writeValues(prepare, keys, write);
    case 'checkpoint-writes':
      return writeWrites(prepare, keys, write);
    case 'secret':
    case 'erase-secret':
    case 'cron-secret':
    case 'erase-cron-secret':
      return writeSecret(prepare, write);
    case 'body':
      prepare('INSERT OR REPLACE INTO bodies VALUES (@deliveryId, @threadId, @data, @crc)').run({
        ...write,
        ...prepare.coder.columns(write.data),
      });
      return;
    case 'erase-body':
      prepare('DELETE FROM bodies WHERE delivery_id = @deliveryId').run(write);
      return;
    case 'item-value':
      prepare('INSERT OR REPLACE INTO item_values VALUES (@itemId, @data, @crc)').run({
        ...write,
        ...prepare.coder.columns(write.data),
      });
      return;
    case 'item-vectors': {
      const { itemId, vectors } = write;
      prepare('DELETE FROM item_vectors WHERE item_id = ?').run(itemId);
      const insert = prepare('INSERT INTO item_vectors VALUES (@itemId, @idx, @data, @crc)');
      vectors.forEach((data, idx) => insert.run({ itemId, idx, ...prepare.coder.columns(data) }));
      return;
    }
    case 'erase-item':
      for (const table of ['item_values', 'item_vectors'])
        prepare(`DELETE FROM ${table} WHERE item_id = @itemId`).run(write);
      return;
    case 'request':
      prepare('INSERT INTO requests VALUES (@key, @digest, @runId, @threadId, @at)').run({ ...write, at });
      return;
    case 'forget-commands':
      return forgetCommands(prepare, write);
    case 'forget-requests':
      return forgetRequests(prepare, write.stream, write.runIds);
    case 'forget-checkpoints':
      forgetCheckpoints(prepare, keys, write);
      return;
    case 'keep-checkpoints':
      keepCheckpoints(prepare, keys, write);
      return;
    case 'copy-checkpoints':
      copyCheckpoints(prepare, keys, write);
      return;
    case 'redact-runs':
      redactRuns(prepare, write.stream, write.runIds);
      return forgetRecordings(prepare, write.runIds);
    case 'forget-thread-frames':
      forgetThreadFrames(prepare, tail, write.threadId);
      return forgetThreadRecordings(prepare, write.threadId);
    case 'forget-frames':
      return forgetFrames(prepare, tail, write);
    case 'purge-stream':
      return purgeStream(prepare, write);
    case 'purge-thread':
      prepare('DELETE FROM secrets WHERE thread_id = @threadId').run(write);
      forgetThreadResume(prepare, write.threadId);
      purgeCheckpoints(prepare, write.threadId);
      keys.forget();
      forgetThreadFrames(prepare, tail, write.threadId);
      forgetThreadRecordings(prepare, write.threadId);
      purgeStream(prepare, write);
  }
}

function purgeStream(prepare: Prepare, { stream, tombstone }: { stream: string; tombstone: number }): void {
  prepare('DELETE FROM events WHERE stream = ? AND version < ?').run(stream, tombstone);
}

const partsOf =
  (checkpointId: string) =>
  (text: string): unknown =>
    fromStored(text, 'part of checkpoint', checkpointId);

/** No caller may hold an iterator of these across an await: a long read keeps the write-ahead log from shrinking. */
export function createPayloadReader(
  prepare: Prepare,
  scan: Ask['scan'],
  rowsOf: FrameTail['rowsOf'] = findTail(prepare),
  held = createHeldValues(),
): PayloadReader {
  const blobsOf = (threadId: string, ns: string, versions: Record<string, string>, only?: string[]) => {
    const thread = findThread(prepare, threadId);
    return (only ?? Object.keys(versions)).flatMap((channel) => {
      const version = versions[channel];
      if (thread === undefined || version === undefined) return [];
      const data = readChannel(prepare, { thread, ns }, channel, version);
      return data === undefined ? [] : [{ channel, version, data }];
    });
  };
  const toStored = (threadId: string, row: CheckpointRow, choice?: ChannelChoice): StoredCheckpoint => {
    const { metadata, versions, valueChannels, body } = unpackCheckpoint(prepare.coder, row);
    const parse = partsOf(row.checkpoint_id);
    const all = parse(versions) as Record<string, string>;
    const values = parse(valueChannels) as string[];
    const writes = readWrites(prepare, threadId, row.ns, row.checkpoint_id);
    return {
      ns: row.ns,
      checkpointId: row.checkpoint_id,
      parentId: row.parent_id,
      body,
      metadata: parse(metadata) as JsonObject,
      blobs: blobsOf(threadId, row.ns, all, choice && chosen(Object.keys(all), values, writes, choice)),
      valueChannels: values,
      writes,
      at: row.at,
    };
  };
  const find = (threadId: string, ns: string, checkpointId?: string): CheckpointRow | undefined => {
    if (checkpointId === undefined)
      return prepare(
        'SELECT * FROM checkpoints WHERE thread_id = ? AND ns = ? ORDER BY seq DESC LIMIT 1',
      ).get(threadId, ns) as CheckpointRow | undefined;
    const thread = findThread(prepare, threadId);
    const checkpoint = thread === undefined ? undefined : findName(prepare, thread, checkpointId);
    return checkpoint === undefined
      ? undefined
      : findCheckpoint(prepare, { threadId, ns, checkpointId }, checkpoint);
  };

  const valuesOf = (threadId: string, checkpointId: string): JsonText | undefined => {
    const row = find(threadId, '', checkpointId);
    if (row === undefined) return undefined;
    return held.of(`${threadId} ${checkpointId}`, () => {
      const { versions, valueChannels } = unpackCheckpoint(prepare.coder, row);
      const parse = partsOf(checkpointId);
      const all = parse(versions) as Record<string, string>;
      const names = parse(valueChannels) as string[];
      return shownValues(names, blobsOf(threadId, '', all, names), parse);
    });
  };

  return {
    async checkpoint(threadId, ns, checkpointId, choice) {
      const row = find(threadId, ns, checkpointId);
      return row && toStored(threadId, row, choice);
    },
    async checkpoints(threadId, filter) {
      const stored: StoredCheckpoint[] = [];
      let size = 0;
      const turn = startTurn();
      for (const { ns, checkpoint_id } of await findCheckpoints(prepare, scan, threadId, filter)) {
        // Read again after every pause: the thread may be gone by now, and half a checkpoint is none.
        const row = find(threadId, ns, checkpoint_id);
        if (row !== undefined)
          size += sizeOf(stored[stored.push(toStored(threadId, row, filter.choice)) - 1]!);
        if (filter.maxChars !== undefined && size >= filter.maxChars) break;
        await turn();
      }
      return stored;
    },
    outline: async (threadId) => readOutline(prepare, threadId),
    storage: async (threadId) => readStorage(prepare, threadId),
    lastConfig: async (threadId) => readLastConfig(prepare, threadId),
    values: async (threadId, checkpointId) => valuesOf(threadId, checkpointId),
    async containing(heads, wanted) {
      const matches: string[] = [];
      const turn = startTurn();
      for (const { threadId, checkpointId } of heads) {
        const values = valuesOf(threadId, checkpointId)?.parse();
        if (isObject(values) && matchesFilter(values, wanted)) matches.push(threadId);
        await turn();
      }
      return matches;
    },
    ...createFrameReader(prepare, rowsOf),
    lastFrameAt: async (run, checkpointId) => findLastFrameAt(prepare, run, checkpointId),
    untracked: async (runId) => readUntracked(prepare, runId),
    recording: async (runId, limit) => readRecording(prepare, runId, limit),
    resume: async (runId) => readResume(prepare, runId),
    secret: async (runId) => readSecret(prepare, runId),
    cronSecret: async (cronId) => readCronSecret(prepare, cronId),
    async body(deliveryId) {
      const sql = 'SELECT data FROM bodies WHERE delivery_id = ?';
      const data = prepare(sql).pluck().get(deliveryId) as Stored | undefined;
      return data && prepare.coder.open(data);
    },
    async request(key) {
      return prepare('SELECT digest, run_id AS runId, thread_id AS threadId FROM requests WHERE key = ?').get(
        key,
      ) as AcceptedRequest | undefined;
    },
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

const sizeOf = ({ blobs }: StoredCheckpoint): number =>
  blobs.reduce((size, { data }) => size + data.length, 0);
