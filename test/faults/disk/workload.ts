/**
 * `workload.ts <data>`: the write path without HTTP and graphs, a fixed list of commits one after the other, so that
 * its system calls can be numbered. Prints a line of JSON for all that it was told, at once; exits with 70 when a
 * commit's outcome is unknown and with 75 when the disk is full, after looking whether reading still works.
 */
import { writeSync } from 'node:fs';
import { commit } from '../../../src/actors/aggregate.ts';
import { createItems } from '../../../src/actors/items.ts';
import { LogFull, LogUnavailable } from '../../../src/store/port/log-failures.ts';
import { createThreads } from '../../../src/actors/threads.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { openSqliteLog } from '../../../src/store/sqlite/log.ts';
import { projection } from '../../../src/store/sql/rows/projection.ts';
import type { ThreadCommand } from '../../../src/thread/decide.ts';
import { ask } from '../../support/given.ts';
import { createManualClock } from '../../support/manual-clock.ts';

/** What a line says: `trying` comes before what it names, the others after. */
export interface Told {
  readonly what:
    | 'trying'
    | 'thread'
    | 'frames'
    | 'group'
    | 'item'
    | 'deleted'
    | 'refused'
    | 'full'
    | 'unknown'
    | 'fault'
    | 'done';
  readonly id: string;
}

const ROUNDS = 4;
const EXIT_UNKNOWN = 70;
const EXIT_FULL = 75;

const tell = (what: Told['what'], id = ''): void =>
  void writeSync(1, `${JSON.stringify({ what, id } satisfies Told)}\n`);

const clock = createManualClock();
const log = openSqliteLog({
  ...{ dir: process.argv[2]!, projection, clock },
  onFault: (error) => tell('fault', String(error)),
});
const ids = randomIds(clock);
const threads = createThreads({ log, clock, ids, webhooks: { enabled: false, render: () => '' } });
const items = createItems({ log, clock, ids });

async function dispatch(id: string, command: ThreadCommand, more: object = {}): Promise<void> {
  const result = await threads.dispatch(id, [command], more);
  if (!result.ok) throw new Error(`${command.type}: ${result.refusal.code}`);
}

async function create(id: string): Promise<void> {
  tell('trying', id);
  // Named after the thread, so that whoever comes back can ask for the very same.
  const command = ask.createThread({ padding: 'x'.repeat(3_000) }, id);
  await dispatch(id, command, { commandId: `create-${id}` }).catch((error: unknown) => {
    if (error instanceof LogFull) tell('refused', id);
    throw error;
  });
  tell('thread', id);
}

async function run(threadId: string): Promise<void> {
  const [runId, leaseId] = [`run-${threadId}`, `lease-${threadId}`];
  const lease = { runId, attempt: 1, leaseId };
  await dispatch(threadId, ask.createRun(runId));
  await dispatch(threadId, ask.start(runId, leaseId));
  const frames = Array.from({ length: 20 }, (_, i) => ({
    event: 'custom',
    data: `"${i} ${'y'.repeat(500)}"`,
  }));
  await commit(log, {
    ...{ commandId: ids.uuid(), appends: [], lease },
    payloads: [{ kind: 'frames', runId, threadId, first: 0, frames }],
  });
  tell('frames', runId);
  await dispatch(threadId, ask.complete(runId, undefined, 1, leaseId));
}

async function work(): Promise<void> {
  for (let i = 0; i < ROUNDS; i++) {
    await create(`t${i}`);
    await run(`t${i}`);
    const group = Array.from({ length: 10 }, (_, n) => `g${i}-${n}`);
    await Promise.all(group.map((id) => dispatch(id, ask.createThread({}, id))));
    for (const id of group) tell('group', id);
    const value = { value: '{"a":1}', ttl: null, vectors: [] };
    await items.write([{ kind: 'put', namespace: ['n'], key: `k${i}`, ...value }]);
    tell('item', `k${i}`);
    if (i % 2 === 0) continue;
    await dispatch(`g${i}-0`, ask.deleteThread());
    tell('deleted', `g${i}-0`);
    // Past the moment when what was deleted is erased from the disk.
    await clock.advance(600);
  }
  await log.close();
  tell('done');
}

try {
  await work();
} catch (error) {
  const isFull = error instanceof LogFull;
  if (!isFull && !(error instanceof LogUnavailable)) throw error;
  tell(isFull ? 'full' : 'unknown', String((await log.views.inventory.threads()).length));
  process.exit(isFull ? EXIT_FULL : EXIT_UNKNOWN);
}
