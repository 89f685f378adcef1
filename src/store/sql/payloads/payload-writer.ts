/** Writes payloads inside the commit's transaction. */
import { KINDS, kindsWith } from '../../port/kinds.ts';
import type { PayloadWrite } from '../../port/payloads.ts';
import type { PayloadWriter } from '../batch-writer.ts';
import { forgetCommands, forgetRequests, redactRuns } from '../event-store.ts';
import { mergePayloads } from '../merge-payloads.ts';
import { writeQueue } from '../queue.ts';
import { rows, write as step, type Step, type Work, type WorkContext } from '../work.ts';
import { writeBody, writeRequest } from './bodies.ts';
import { copyCheckpoints, forgetCheckpoints, keepCheckpoints } from './checkpoint-maintenance.ts';
import { writeCheckpoint, writeValues, writeWrites } from './checkpoint-store.ts';
import { forgetFrames, forgetThreadFrames, writeFrames } from './frame-store.ts';
import type { HeldTexts } from './held-texts.ts';
import { writeImport } from './imports.ts';
import { writeItem } from './items.ts';
import { writeResume } from './resume-calls.ts';
import { forgetRunContents, writeRunContent } from './run-contents.ts';
import { writeSecret } from './secrets.ts';
import { createStore, lockThread, type PayloadStore } from './shared-texts.ts';
import { findThread } from './text-threads.ts';

/** Kinds whose tables most servers leave empty, by what erases them. */
const RARE = { 'erase-secret': 'secret', 'erase-resume': 'resume' } as const;

export function createPayloadWriter(context: WorkContext, held?: HeldTexts): PayloadWriter {
  const store = createStore(context, held);
  /** Whether an only writer has ever had rows of a rare kind. */
  const found = new Map<string, boolean>();

  function* isEmpty(kind: (typeof RARE)[keyof typeof RARE]): Work<boolean> {
    if (context.shared !== undefined) return false;
    if (!found.has(kind)) {
      const some: readonly unknown[] = yield rows(`SELECT 1 FROM ${KINDS[kind].table} LIMIT 1`, []);
      found.set(kind, some.length > 0);
    }
    return !found.get(kind)!;
  }

  return {
    *write(payloads, at): Work<void> {
      for (const payload of mergePayloads(payloads)) {
        const { kind } = payload;
        if (kind === 'secret' || kind === 'resume') found.set(kind, true);
        // Nothing is deleted from a table without rows.
        if ((kind === 'erase-secret' || kind === 'erase-resume') && (yield* isEmpty(RARE[kind]))) continue;
        yield* writePayload(store, payload, at);
      }
      store.endBatch();
    },
    begin: store.held.begin,
    undone: store.undone,
  };
}

function* writePayload(store: PayloadStore, write: PayloadWrite, at: number): Work<void> {
  const { context } = store;
  switch (write.kind) {
    case 'queue':
      return yield* writeQueue(context, write, at);
    case 'frames':
      return yield* writeFrames(store, write, at);
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
      return yield* writeCheckpoint(store, write, at);
    case 'channel-values':
      return yield* writeValues(store, write);
    case 'checkpoint-writes':
      return yield* writeWrites(store, write);
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
      return yield* forgetCheckpoints(store, write);
    case 'keep-checkpoints':
      return yield* keepCheckpoints(store, write);
    case 'copy-checkpoints':
      return yield* copyCheckpoints(store, write);
    case 'redact-runs':
      yield* redactRuns(context, write.stream, write.runIds);
      return yield* forgetRunContents('content', write.runIds);
    case 'forget-frames':
      yield* forgetFrames(store, write.runId, write.threadId);
      return yield* forgetRunContents('frames', [write.runId]);
    case 'forget-thread-frames':
      yield* forgetThreadFrames(store, write.threadId);
      yield step('DELETE FROM run_contents WHERE thread_id = ?', [write.threadId]);
      return;
    case 'begin-import':
    case 'complete-import':
    case 'erase-import':
      return yield* writeImport(store, write, at);
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
  yield* forgetThreadFrames(store, threadId);
  const thread = yield* findThread(threadId);
  yield* lockThread(store, thread, 'takeRows');
  yield step('DELETE FROM texts WHERE thread = @thread OR id = @thread', { thread });
  for (const table of TABLES_OF_RUNS) yield step(`DELETE FROM ${table} WHERE thread_id = ?`, [threadId]);
}

const TABLES_OF_RUNS = new Set(
  kindsWith(({ owner, table }) => owner === 'run' && table !== 'frames').map((name) => KINDS[name].table),
);

const purgeStream = ({ stream, tombstone }: { stream: string; tombstone: number }): Step =>
  step('DELETE FROM events WHERE stream = ? AND version < ?', [stream, tombstone]);
