import assert from 'node:assert/strict';
import type { RenderDelivery } from '../../../src/actors/derived-writes.ts';
import {
  createThreads,
  type Dispatched,
  type DispatchOptions,
  type Threads,
} from '../../../src/actors/threads.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import type { ThreadCommand } from '../../../src/thread/decide.ts';
import { ask, THREAD } from '../../support/given.ts';
import { createRandom } from '../../support/random.ts';
import { seededIds, withLog, type TestLog } from '../../support/with-log.ts';

/** Says what it was given, so that a test sees which values were known. */
const render: RenderDelivery = (run, outcome, values, at) =>
  JSON.stringify({ run: run.runId, outcome: outcome.kind, values: values ?? null, at });

export interface TestThreads extends TestLog {
  /** The write path under test; made anew by `restart`. */
  readonly threads: Threads;
  /** Dispatches to one thread and expects acceptance. */
  done(
    commands: ThreadCommand | ThreadCommand[],
    options?: DispatchOptions,
  ): Promise<Dispatched & { ok: true }>;
  /** Dispatches to one thread and expects a refusal, whose code is returned. */
  refused(command: ThreadCommand, options?: DispatchOptions): Promise<string>;
  /** Opens the log again and forgets every actor. */
  restart(): Promise<void>;
  /** Another write path over the same log, or over what is made of it. */
  another(wrap?: (log: EventLog) => EventLog, capacity?: number): Threads;
  /** The text of everything stored. */
  dump(): string;
}

/** Lends a thread's write path over a real log. */
export function withThreads<T>(
  use: (given: TestThreads) => Promise<T>,
  { webhooks = true, capacity }: { webhooks?: boolean; capacity?: number } = {},
): Promise<T> {
  return withLog(async (lent) => {
    const ids = seededIds(lent.clock, createRandom(1));
    const make = (log: EventLog, most = capacity): Threads =>
      createThreads({
        ...{ log, clock: lent.clock, ids, webhooks: { enabled: webhooks, render } },
        ...(most !== undefined && { capacity: most }),
      });
    let threads = make(lent.log);
    const given: TestThreads = {
      ...lent,
      get log() {
        return lent.log;
      },
      get rows() {
        return lent.rows;
      },
      get threads() {
        return threads;
      },
      async done(commands, options) {
        const result = await threads.dispatch(
          THREAD,
          Array.isArray(commands) ? commands : [commands],
          options,
        );
        assert.ok(result.ok, JSON.stringify(result));
        return result;
      },
      async refused(command, options) {
        const result = await threads.dispatch(THREAD, [command], options);
        assert.ok(!result.ok, 'it was accepted');
        return result.refusal.code;
      },
      async restart() {
        threads = make(await lent.reopen());
      },
      another: (wrap = (log) => log, most) => make(wrap(lent.log), most),
      dump: () =>
        lent.behind((db) => {
          const tables = db
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'opened' ORDER BY name")
            .pluck()
            .all() as string[];
          return JSON.stringify(tables.map((table) => [table, db.prepare(`SELECT * FROM ${table}`).all()]));
        }),
    };
    return use(given);
  });
}

/** The commands that bring a new thread to a run that executes. */
export const toRunning = (
  runId: string,
  given: Parameters<typeof ask.createRun>[2] = {},
): ThreadCommand[] => [ask.createThread(), ask.createRun(runId, 'enqueue', given), ask.start(runId)];
