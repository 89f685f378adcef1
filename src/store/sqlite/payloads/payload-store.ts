/** Payload tables: writes inside the commit's transaction, reads of what is committed. */
import { matchesFilter } from '../../../kernel/filter.ts';
import { startTurn } from '../../../kernel/turn.ts';
import { isObject } from '../../../kernel/json.ts';
import type { JsonText } from '../../../kernel/json-text.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import { KINDS, kindsWith } from '../../port/kinds.ts';
import type { ChannelText, PayloadReader, PayloadWrite } from '../../port/payloads.ts';
import { mergePayloads } from '../../sql/merge-payloads.ts';
import type { PayloadWriter } from '../../sql/batch-writer.ts';
import { forgetCommands, forgetRequests, redactRuns } from '../../sql/event-store.ts';
import { readBody, readRequest, writeBody, writeRequest } from '../../sql/payloads/bodies.ts';
import { writeItem } from '../../sql/payloads/items.ts';
import { readResume, writeResume } from '../../sql/payloads/resume-calls.ts';
import {
  forgetRunContents,
  readCalls,
  readRecording,
  readUntracked,
  writeRunContent,
} from '../../sql/payloads/run-contents.ts';
import { readCronSecret, readSecret, writeSecret } from '../../sql/payloads/secrets.ts';
import { writeQueue } from '../../sql/queue.ts';
import { write as step, type Step, type Work } from '../../sql/work.ts';
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
import { createHeldTexts, type HeldTexts } from '../../sql/payloads/held-texts.ts';
import { createHeldValues } from './held-values.ts';
import { writeImport } from './imports.ts';
import { readLastConfig } from './last-config.ts';
import { shownValues } from './shown-values.ts';
import { findThread } from '../../sql/payloads/text-threads.ts';
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
    *write(payloads, at): Work<void> {
      for (const payload of mergePayloads(payloads)) {
        const { kind } = payload;
        if (kind === 'secret' || kind === 'resume') kept.add(kind);
        // Most servers have neither: nothing is deleted from a table without rows.
        if (kind === 'erase-secret' && !kept.has('secret')) continue;
        if (kind === 'erase-resume' && !kept.has('resume')) continue;
        yield* writePayload(store, payload, at);
      }
      held.newThreads.clear();
    },
    undone: held.forget,
  };
}

function* writePayload(store: PayloadStore, write: PayloadWrite, at: number): Work<void> {
  const { context } = store.prepare.driver;
  switch (write.kind) {
    case 'queue':
      return yield* writeQueue(write, at);
    case 'frames':
      return writeFrames(store, write, at);
    case 'untracked-values':
    case 'calls':
    case 'recording':
      yield writeRunContent(context, write);
      return;
    case 'resume':
    case 'erase-resume':
      yield writeResume(context, write);
      return;
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
      yield writeSecret(context, write);
      return;
    case 'body':
    case 'erase-body':
      yield writeBody(context, write);
      return;
    case 'item-value':
    case 'item-vectors':
    case 'erase-item':
      return yield* writeItem(context, write);
    case 'request':
      yield writeRequest(write, at);
      return;
    case 'forget-commands':
      return yield* forgetCommands(write);
    case 'forget-requests':
      return yield* forgetRequests(context, write.stream, write.runIds);
    case 'forget-checkpoints':
      return forgetCheckpoints(store, write);
    case 'keep-checkpoints':
      return keepCheckpoints(store, write);
    case 'copy-checkpoints':
      return copyCheckpoints(store, write);
    case 'redact-runs':
      yield* redactRuns(context, write.stream, write.runIds);
      return yield* forgetRunContents('content', write.runIds);
    case 'forget-frames':
      forgetFrames(store, write.runId, write.threadId);
      return yield* forgetRunContents('frames', [write.runId]);
    case 'forget-thread-frames':
      forgetThreadFrames(store, write.threadId);
      yield step('DELETE FROM run_contents WHERE thread_id = ?', [write.threadId]);
      return;
    case 'begin-import':
    case 'complete-import':
    case 'erase-import':
      return writeImport(store, write, at);
    case 'purge-stream':
      yield purgeStream(write);
      return;
    case 'purge-thread':
      yield* purgeThread(store, write.threadId);
      yield purgeStream(write);
  }
}

/** L3 Everything that belongs to the thread or its runs. */
function* purgeThread(store: PayloadStore, threadId: string): Work<void> {
  forgetThreadFrames(store, threadId);
  const thread = store.prepare.driver.run(findThread(threadId));
  yield step('DELETE FROM texts WHERE thread = @thread OR id = @thread', { thread });
  for (const table of TABLES_OF_RUNS) yield step(`DELETE FROM ${table} WHERE thread_id = ?`, [threadId]);
}

const TABLES_OF_RUNS = new Set(
  kindsWith(({ owner, table }) => owner === 'run' && table !== 'frames').map((name) => KINDS[name].table),
);

const purgeStream = ({ stream, tombstone }: { stream: string; tombstone: number }): Step =>
  step('DELETE FROM events WHERE stream = ? AND version < ?', [stream, tombstone]);

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
  const { run, context } = prepare.driver;
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
        readValues(source, threadId, { thread: prepare.driver.run(findThread(threadId)), ns: '' }, versions, [
          name,
        ]),
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
    untracked: async (runId) => run(readUntracked(context, runId)),
    recording: async (runId, limit) => run(readRecording(context, runId, limit)),
    calls: async (runId) => run(readCalls(context, runId)),
    resume: async (runId) => run(readResume(context, runId)),
    secret: async (runId) => run(readSecret(context, runId)),
    cronSecret: async (cronId) => run(readCronSecret(context, cronId)),
    body: async (deliveryId) => run(readBody(context, deliveryId)),
    request: async (key) => run(readRequest(key)),
  };
}
