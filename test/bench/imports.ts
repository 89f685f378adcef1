/**
 * `node --import tsx test/bench/imports.ts`: how long an import holds up the event loop, at the bounds of what a server
 * takes. A hold is what passes between two turns of the loop. Processor time counts: other programs take wall time.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createThreads } from '../../src/actors/threads.ts';
import { importThread } from '../../src/archive/import.ts';
import { inspect } from '../../src/archive/inspect.ts';
import { SERVED_HISTORY } from '../../src/archive/limits.ts';
import { KEEP_IDS } from '../../src/archive/new-ids.ts';
import { openExport } from '../../src/archive/read.ts';
import { exportThread } from '../../src/archive/write.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { storeAt } from '../../src/open-store.ts';
import type { SourcePayload } from '../../src/store/port/thread-source.ts';
import type { ThreadEvent } from '../../src/thread/events.ts';
import { fact, THREAD } from '../support/given.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { fakeSource, wholeText } from '../unit/archive/fake-source.ts';

const EVENTS_PER_RUN = 4;
const BAR_MS = 500;

const runAt = (index: number): string => `01980000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`;

/** Runs one after the other, with a checkpoint and a frame each; `inputChars` of text come with each. */
function thread(events: number, inputChars: number): { facts: ThreadEvent[]; payloads: SourcePayload[] } {
  const facts: ThreadEvent[] = [fact.created({ owner: 'ann' })];
  const payloads: SourcePayload[] = [];
  const pad = 'x'.repeat(inputChars);
  for (let index = 0; facts.length + EVENTS_PER_RUN < events; index++) {
    const [runId, checkpointId] = [runAt(index), `c${index}`];
    facts.push(
      fact.runCreated(runId, { metadata: { pad }, threadMetadata: { owner: 'ann', graph_id: 'agent' } }),
      fact.started(runId),
      fact.saved(runId, checkpointId),
      { type: 'RunCompleted', data: { ...fact.completed(runId).data, head: checkpointId } } as ThreadEvent,
    );
    payloads.push(
      {
        kind: 'checkpoint',
        ...{
          runId,
          ns: '',
          checkpointId,
          parentId: index === 0 ? null : `c${index - 1}`,
          at: 1,
          lastFrame: 0,
        },
        ...{ metadata: {}, channelVersions: {}, valueChannels: [], text: wholeText('{"v":4}') },
      },
      { kind: 'frame', runId, id: 0, event: 'values', at: 1, showsState: false, text: wholeText('{"n":1}') },
    );
  }
  return { facts, payloads };
}

interface Holds {
  readonly ms: number;
  readonly wallMs: number;
}

/** The longest hold of the loop while `work` goes on. */
async function longestHold(work: () => Promise<void>): Promise<Holds> {
  let [ms, wallMs, isOver] = [0, 0, false];
  let [cpu, wall] = [process.threadCpuUsage(), performance.now()];
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(cpu);
    ms = Math.max(ms, (user + system) / 1000);
    wallMs = Math.max(wallMs, performance.now() - wall);
    [cpu, wall] = [process.threadCpuUsage(), performance.now()];
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  look();
  return { ms, wallMs };
}

const { maxEvents, maxUtf16Units } = SERVED_HISTORY;
const CASES = [
  ['many events', maxEvents, 100],
  ['large events', 400, Math.floor(maxUtf16Units / 110)],
  ['few events', 400, 100],
] as const;

await withTempDir(async (dir) => {
  const clock = systemClock();
  for (const [name, events, inputChars] of CASES) {
    const { facts, payloads } = thread(events, inputChars);
    const path = join(dir, name);
    await writeFile(
      path,
      exportThread(fakeSource(payloads, facts), { threadId: THREAD, exportedAt: 1, libraries: {} }),
    );
    const log = await storeAt(join(dir, `${name} log`)).openLog({
      clock,
      onFault: console.error,
      onWarning: console.error,
    });
    const ids = randomIds(clock);
    const threads = createThreads({ log, clock, ids, webhooks: { enabled: false, render: () => '' } });
    const file = await openExport(path);
    const began = process.threadCpuUsage();
    const { ms, wallMs } = await longestHold(async () => {
      const inspected = await inspect(file, SERVED_HISTORY);
      const done = await importThread({ log, threads, ids }, file, inspected, {
        rename: KEEP_IDS,
        metadata: {},
      });
      if (!done.ok) throw new Error('not imported');
    });
    const { user, system } = process.threadCpuUsage(began);
    console.log(
      `${name}: ${facts.length} events of ${Math.round(JSON.stringify(facts).length / 1e6)} MB, ` +
        `longest hold ${ms.toFixed(0)} ms of processor time (${wallMs.toFixed(0)} ms), bar ${BAR_MS} ms; ` +
        `the import ${((user + system) / 1e6).toFixed(1)} s of processor time`,
    );
    await file.close();
    await log.close();
  }
});
