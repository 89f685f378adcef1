/** Payload tables: writes inside the commit's transaction, reads of what is committed. */
import { matchesFilter } from '../../../kernel/filter.ts';
import { startTurn } from '../../../kernel/turn.ts';
import { isObject } from '../../../kernel/json.ts';
import type { JsonText } from '../../../kernel/json-text.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import { KINDS, kindsWith } from '../../port/kinds.ts';
import type { AcceptedRequest, ChannelText, PayloadReader, PayloadWrite } from '../../port/payloads.ts';
import type { Stored } from '../../sql/coder.ts';
import { mergePayloads } from '../../sql/merge-payloads.ts';
import type { PayloadWriter } from '../../sql/batch-writer.ts';
import { forgetCommands, forgetRequests, redactRuns } from '../../sql/event-store.ts';
import { writeQueue } from '../../sql/queue.ts';
import type { Prepare } from '../statements.ts';
import { copyCheckpoints, forgetCheckpoints, keepCheckpoints } from './checkpoint-maintenance.ts';
import {
  findCheckpoint,
  findLastFrameAt,
  openCheckpoint,
  readCheckpoint,
  readCheckpoints,
  readValues,
} from './checkpoint-reads.ts';
import { writeCheckpoint, writeValues, writeWrites, type PayloadStore } from './checkpoint-store.ts';
import { createFrameReader, forgetFrames, forgetThreadFrames, writeFrames } from './frame-store.ts';
import { createHeldTexts, type HeldTexts } from './held-texts.ts';
import { createHeldValues } from './held-values.ts';
import { writeImport } from './imports.ts';
import { readLastConfig } from './last-config.ts';
import {
  forgetRunContents,
  readCalls,
  readRecording,
  readUntracked,
  writeRunContent,
} from './run-contents.ts';
import { readResume, writeResume } from './resume-calls.ts';
import { readCronSecret, readSecret, writeSecret } from './secrets.ts';
import { shownValues } from './shown-values.ts';
import { findThread } from './text-threads.ts';
import { readOutline, readStorage } from './thread-storage.ts';

/** For the one connection that writes. */
export function createPayloadWriter(prepare: Prepare, held = createHeldTexts()): PayloadWriter {
  const store = { prepare, held };
  const kept = new Set<string>(
    (['secret', 'resume'] as const).filter(
      (kind) => prepare(`SELECT 1 FROM ${KINDS[kind].table} LIMIT 1`).get() !== undefined,
    ),
  );
  return {
    *write(payloads, at) {
      for (const payload of mergePayloads(payloads)) {
        const { kind } = payload;
        if (kind === 'secret' || kind === 'resume') kept.add(kind);
        // Most servers have neither: nothing is deleted from a table without rows.
        if (kind === 'erase-secret' && !kept.has('secret')) continue;
        if (kind === 'erase-resume' && !kept.has('resume')) continue;
        writePayload(store, payload, at);
      }
      held.newThreads.clear();
    },
    undone: held.forget,
  };
}

function writePayload(store: PayloadStore, write: PayloadWrite, at: number): void {
  const { prepare } = store;
  const { driver } = prepare;
  switch (write.kind) {
    case 'queue':
      return driver.run(writeQueue(write, at));
    case 'frames':
      return writeFrames(store, write, at);
    case 'untracked-values':
    case 'calls':
    case 'recording':
      return writeRunContent(prepare, write);
    case 'resume':
    case 'erase-resume':
      return writeResume(prepare, write);
    case 'checkpoint':
      return writeCheckpoint(store, write, at);
    case 'channel-values':
      return writeValues(store, write);
    case 'checkpoint-writes':
      return writeWrites(store, write);
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
      return driver.run(forgetCommands(write));
    case 'forget-requests':
      return driver.run(forgetRequests(driver.context, write.stream, write.runIds));
    case 'forget-checkpoints':
      return forgetCheckpoints(store, write);
    case 'keep-checkpoints':
      return keepCheckpoints(store, write);
    case 'copy-checkpoints':
      return copyCheckpoints(store, write);
    case 'redact-runs':
      driver.run(redactRuns(driver.context, write.stream, write.runIds));
      return forgetRunContents(prepare, 'content', write.runIds);
    case 'forget-frames':
      forgetFrames(store, write.runId, write.threadId);
      return forgetRunContents(prepare, 'frames', [write.runId]);
    case 'forget-thread-frames':
      forgetThreadFrames(store, write.threadId);
      prepare('DELETE FROM run_contents WHERE thread_id = ?').run(write.threadId);
      return;
    case 'begin-import':
    case 'complete-import':
    case 'erase-import':
      return writeImport(store, write, at);
    case 'purge-stream':
      return purgeStream(prepare, write);
    case 'purge-thread':
      purgeThread(store, write.threadId);
      purgeStream(prepare, write);
  }
}

/** L3 Everything that belongs to the thread or its runs. */
function purgeThread(store: PayloadStore, threadId: string): void {
  forgetThreadFrames(store, threadId);
  const thread = findThread(store.prepare, threadId);
  store.prepare('DELETE FROM texts WHERE thread = @thread OR id = @thread').run({ thread });
  for (const table of TABLES_OF_RUNS) store.prepare(`DELETE FROM ${table} WHERE thread_id = ?`).run(threadId);
}

const TABLES_OF_RUNS = new Set(
  kindsWith(({ owner, table }) => owner === 'run' && table !== 'frames').map((name) => KINDS[name].table),
);

function purgeStream(prepare: Prepare, { stream, tombstone }: { stream: string; tombstone: number }): void {
  prepare('DELETE FROM events WHERE stream = ? AND version < ?').run(stream, tombstone);
}

/**
 * No caller may hold an iterator of these across an await: a long read keeps the write-ahead log from shrinking. `held`:
 * texts of the log's one writer.
 */
export function createPayloadReader(
  prepare: Prepare,
  heldValues = createHeldValues(),
  held?: HeldTexts,
): PayloadReader {
  const source = { prepare, held };
  const show = (checkpointId: string, names: readonly string[], values: readonly ChannelText[]): JsonText =>
    shownValues(names, values, (text) => fromStored(text, 'part of checkpoint', checkpointId));
  const valuesOf = (threadId: string, checkpointId: string): JsonText | undefined => {
    const row = findCheckpoint(source, threadId, '', checkpointId);
    if (row === undefined) return undefined;
    return heldValues.of(`${threadId} ${checkpointId}`, () => {
      const { versions, valueChannels } = openCheckpoint(prepare, row);
      return show(checkpointId, valueChannels, readValues(source, threadId, row, versions, valueChannels));
    });
  };
  function valuesIn(
    writes: readonly PayloadWrite[],
    threadId: string,
    checkpointId: string,
  ): JsonText | undefined {
    const saved = writes.flatMap((write) =>
      write.kind === 'checkpoint' && write.checkpoint.ns === '' ? [write.checkpoint] : [],
    );
    const apart = writes.flatMap((write) =>
      write.kind === 'channel-values' && write.ns === '' ? write.values : [],
    );
    const checkpoint = saved.findLast((each) => each.checkpointId === checkpointId);
    if (checkpoint === undefined) return undefined;
    const { channelVersions: versions, valueChannels } = checkpoint;
    const texts = [...apart, ...saved.flatMap(({ blobs }) => blobs)];
    const values = valueChannels.flatMap(
      (name) =>
        texts.find(({ channel, version }) => channel === name && version === versions[name]) ??
        readValues(source, threadId, { thread: findThread(prepare, threadId), ns: '' }, versions, [name]),
    );
    return show(checkpointId, valueChannels, values);
  }

  return {
    async checkpoint(threadId, ns, checkpointId, choice) {
      const row = findCheckpoint(source, threadId, ns, checkpointId);
      return row && readCheckpoint(source, threadId, row, choice);
    },
    checkpoints: (threadId, filter) => readCheckpoints(prepare, threadId, filter),
    outline: async (threadId) => readOutline(prepare, threadId),
    storage: async (threadId) => readStorage(prepare, threadId),
    lastConfig: async (threadId) => readLastConfig(prepare, threadId),
    values: async (threadId, checkpointId, writes = []) =>
      valuesIn(writes, threadId, checkpointId) ?? valuesOf(threadId, checkpointId),
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
    ...createFrameReader(prepare),
    lastFrameAt: async (run, checkpointId) => findLastFrameAt(prepare, run, checkpointId),
    untracked: async (runId) => readUntracked(prepare, runId),
    recording: async (runId, limit) => readRecording(prepare, runId, limit),
    calls: async (runId) => readCalls(prepare, runId),
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
