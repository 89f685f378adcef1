/** A thread with very many events, written through the commits of a log: events, snapshots, checkpoints and writes. */
import { systemClock } from '../../src/kernel/clock.ts';
import type { PayloadWrite } from '../../src/store/port/payloads.ts';
import { storeAt } from '../../src/open-store.ts';
import { threadStream, type ThreadEvent } from '../../src/thread/events.ts';
import { evolve, initial, type ThreadState } from '../../src/thread/state.ts';

export const LONG_THREAD = '01970000-0000-7000-8000-000000000001';
const RUNS_PER_COMMIT = 100;
const STEPS_PER_RUN = 7;
/** Of a run: created, started, its checkpoints, completed. */
export const EVENTS_PER_RUN = STEPS_PER_RUN + 3;

const idOf = (kind: string, n: number): string =>
  `0197000${kind}-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;

function runOf(
  n: number,
  parent: string | null,
): { events: ThreadEvent[]; payloads: PayloadWrite[]; head: string } {
  const [threadId, runId] = [LONG_THREAD, idOf('1', n)];
  const attempt = { threadId, runId, attempt: 1 };
  const events: ThreadEvent[] = [
    {
      type: 'RunCreated',
      data: {
        ...{ threadId, runId, assistantId: 'a', graphId: 'agent', strategy: 'enqueue', metadata: { n } },
        kwargs: { input: { n }, config: {}, streamMode: ['values'], streamSubgraphs: false },
        threadMetadata: { graph_id: 'agent', n },
        notBefore: 0,
      },
    },
    { type: 'RunStarted', data: { ...attempt, leaseId: 'lease' } },
  ];
  const payloads: PayloadWrite[] = [];
  let head = parent;
  for (let step = 0; step < STEPS_PER_RUN; step++) {
    const checkpointId = idOf('2', n * STEPS_PER_RUN + step);
    const source = step === 0 ? 'input' : 'loop';
    events.push({
      type: 'CheckpointSaved',
      data: { ...attempt, checkpointId, parentId: head, ns: '', step: step - 1, source },
    });
    const version = `${String(n * STEPS_PER_RUN + step).padStart(10, '0')}.0`;
    payloads.push({
      ...{ kind: 'checkpoint', threadId, runId },
      checkpoint: {
        ...{ ns: '', checkpointId, parentId: head, body: '{"v":4}', metadata: { source, step } },
        channelVersions: { count: version },
        valueChannels: ['count'],
        blobs: [{ channel: 'count', version, data: String(n * STEPS_PER_RUN + step) }],
      },
    });
    payloads.push({
      ...{ kind: 'checkpoint-writes', threadId, runId, ns: '', checkpointId },
      writes: [
        {
          taskId: idOf('3', step),
          taskPath: '~__pregel_pull, think',
          idx: 0,
          channel: 'count',
          data: String(n),
        },
      ],
    });
    head = checkpointId;
  }
  const outcome = { kind: 'success', next: [], interrupts: {} } as const;
  events.push({ type: 'RunCompleted', data: { ...attempt, outcome, remaining: 0, head } });
  return { events, payloads, head: head! };
}

/** Fills the log in `dir`, which is empty, with a thread of at least `count` events. */
export async function writeLongThread(dir: string, count: number): Promise<void> {
  const log = await storeAt(dir).openLog({
    clock: systemClock(),
    onFault(error) {
      throw error;
    },
  });
  const stream = threadStream(LONG_THREAD);
  let state: ThreadState = initial;
  let head: string | null = null;
  let version = 0;
  for (let run = 0; version < count;) {
    const events: ThreadEvent[] =
      version === 0
        ? [{ type: 'ThreadCreated', data: { threadId: LONG_THREAD, metadata: {}, temporary: false } }]
        : [];
    const payloads: PayloadWrite[] = [];
    for (let i = 0; i < RUNS_PER_COMMIT; i++, run++) {
      const made = runOf(run, head);
      events.push(...made.events);
      payloads.push(...made.payloads);
      head = made.head;
    }
    state = events.reduce(evolve, state);
    const append = { stream, expected: version, events, snapshot: JSON.parse(JSON.stringify(state)) };
    const { kind } = await log.commit({ commandId: `runs-${run}`, appends: [append], payloads });
    if (kind !== 'committed') throw new Error(`a commit of the fixture ended with ${kind}`);
    version += events.length;
  }
  await log.close();
}
