/** Writes payloads inside the commit's transaction. */
import { KINDS, kindsWith } from '../../port/kinds.ts';
import type { PayloadWrite } from '../../port/payloads.ts';
import { mergePayloads } from '../../sql/merge-payloads.ts';
import type { PayloadWriter } from '../../sql/batch-writer.ts';
import { forgetCommands, forgetRequests, redactRuns } from '../../sql/event-store.ts';
import { writeBody, writeRequest } from '../../sql/payloads/bodies.ts';
import { writeItem } from '../../sql/payloads/items.ts';
import { writeResume } from '../../sql/payloads/resume-calls.ts';
import { forgetRunContents, writeRunContent } from '../../sql/payloads/run-contents.ts';
import { writeSecret } from '../../sql/payloads/secrets.ts';
import { writeQueue } from '../../sql/queue.ts';
import { write as step, type Step, type Work } from '../../sql/work.ts';
import type { Prepare } from '../statements.ts';
import { copyCheckpoints, forgetCheckpoints, keepCheckpoints } from './checkpoint-maintenance.ts';
import { writeCheckpoint, writeValues, writeWrites, type PayloadStore } from './checkpoint-store.ts';
import { forgetFrames, forgetThreadFrames, writeFrames } from './frame-store.ts';
import { createHeldTexts } from '../../sql/payloads/held-texts.ts';
import { writeImport } from './imports.ts';
import { findThread } from '../../sql/payloads/text-threads.ts';

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
      return yield* writeQueue(context, write, at);
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
