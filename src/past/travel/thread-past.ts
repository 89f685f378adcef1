/**
 * R2 The rows and the machine state of one thread at any position. Its events are read once, up to the latest position
 * that was asked for; what is kept of them makes every later answer cost one short fold, whatever the thread's age.
 */
import { changeRow, type Cells } from '../../store/port/fold-rows.ts';
import type { Recorded } from '../../store/port/events.ts';
import type { Row, OwnWrite } from '../../store/port/rows.ts';
import type { History } from '../../store/port/past.ts';
import { threadStream, type ThreadEvent } from '../../thread/events.ts';
import { evolve, initial, type ThreadState } from '../../thread/state.ts';

interface PastRun {
  readonly runId: string;
  readonly graphId: string;
  readonly status: string;
  readonly attempt: number;
}

interface SavedState {
  /** The head checkpoint that it made. */
  readonly head: string;
  /** Version of the event. */
  readonly version: number;
}

export interface ThreadMoment {
  readonly machine: ThreadState;
  /** Undefined when the thread does not exist. */
  readonly thread: Row | undefined;
  /** The last event that saved a state. */
  readonly saved: SavedState | undefined;
  /** Version of the thread's last event. */
  readonly version: number;
  /** Newest first. */
  readonly runs: readonly PastRun[];
  /** Time of the thread's last event, milliseconds since 1970. */
  readonly at: number;
}

export interface ThreadPast {
  at(position: number): Promise<ThreadMoment>;
}

/** Events between two marks: a fold of so many takes about 2 ms. */
const MARK_EVENTS = 500;

/** A fold that can be continued. */
interface Fold {
  machine: ThreadState;
  thread: Cells | undefined;
  saved: SavedState | undefined;
  version: number;
  position: number;
  at: number;
}

interface RunPast {
  readonly graphId: string;
  /** Orders the runs. */
  readonly createdAt: number;
  readonly created: number;
  /** Changes in order. Undefined status: the run has no row any more. */
  readonly changes: {
    readonly position: number;
    readonly status: string | undefined;
    readonly attempt: number;
  }[];
}

export function openThreadPast(history: History, threadId: string): ThreadPast {
  const stream = threadStream(threadId);
  const { project } = history;
  const runs = new Map<string, RunPast>();
  const front: Fold = {
    machine: initial,
    thread: undefined,
    saved: undefined,
    version: 0,
    position: 0,
    at: 0,
  };
  const marks: Fold[] = [{ ...front }];

  /** Reads on until an event lies behind `position`, or all are read. */
  async function advance(position: number): Promise<void> {
    while (front.position <= position) {
      const page = (await history.readStream(
        ...([stream, front.version + 1, MARK_EVENTS] as const),
      )) as Recorded<ThreadEvent>[];
      if (page.length === 0) return;
      for (const event of page) {
        for (const write of takeEvent(front, event, project))
          if (write.table === 'runs') noteRun(runs, write, event.meta.position);
      }
      marks.push({ ...front, thread: front.thread && { ...front.thread } });
    }
  }

  return {
    async at(position) {
      await advance(position);
      const mark = marks.findLast((each) => each.position <= position)!;
      const fold: Fold = { ...mark, thread: mark.thread && { ...mark.thread } };
      for (const event of await history.readStream(stream, mark.version + 1, MARK_EVENTS)) {
        if (event.meta.position > position) break;
        takeEvent(fold, event as Recorded<ThreadEvent>, project);
      }
      return {
        machine: fold.machine,
        thread: fold.thread,
        saved: fold.saved,
        version: fold.version,
        runs: runsAt(runs, position),
        at: fold.at,
      };
    },
  };
}

/** Returns the event's row writes; those of the thread's own row are done. */
function takeEvent(
  fold: Fold,
  event: Recorded<ThreadEvent>,
  project: (event: Recorded<ThreadEvent>) => readonly OwnWrite[],
): readonly OwnWrite[] {
  fold.machine = evolve(fold.machine, event);
  fold.version = event.meta.version;
  fold.position = event.meta.position;
  fold.at = event.meta.at;
  const head = savedHeadOf(event);
  if (head !== undefined) fold.saved = { head, version: event.meta.version };
  const writes = project(event);
  for (const write of writes) {
    if (write.table !== 'threads') continue;
    if (write.op === 'put') fold.thread = { ...write.row };
    else if (write.op === 'drop') fold.thread = undefined;
    else if (fold.thread !== undefined) changeRow(fold.thread, write);
  }
  return writes;
}

/** The head that an event saves; undefined for events that save no state of the root graph. */
export function savedHeadOf({ type, data }: ThreadEvent): string | undefined {
  if (type === 'CheckpointSaved') return data.ns === '' ? data.checkpointId : undefined;
  return type === 'StateUpdated' ? (data.head ?? undefined) : undefined;
}

function noteRun(runs: Map<string, RunPast>, write: OwnWrite, position: number): void {
  if (write.op === 'put') {
    const { run_id, graph_id, created_at, created, status, attempt } = write.row;
    runs.set(String(run_id), {
      ...{ graphId: String(graph_id), createdAt: Number(created_at), created: Number(created) },
      changes: [{ position, status: String(status), attempt: Number(attempt) }],
    });
    return;
  }
  const runId = write.key['run_id'];
  // A write that names no run is about all of them.
  const named = runId === undefined ? [...runs.values()] : [runs.get(String(runId))];
  for (const run of named) {
    const last = run?.changes.at(-1);
    if (run === undefined || last === undefined) continue;
    if (write.op === 'drop') run.changes.push({ ...last, position, status: undefined });
    else if ('status' in write.set || 'attempt' in write.set)
      run.changes.push({
        position,
        status: String(write.set['status'] ?? last.status),
        attempt: Number(write.set['attempt'] ?? last.attempt),
      });
  }
}

function runsAt(runs: ReadonlyMap<string, RunPast>, position: number): PastRun[] {
  const found: (PastRun & Pick<RunPast, 'createdAt' | 'created'>)[] = [];
  for (const [runId, run] of runs) {
    const last = run.changes.findLast((change) => change.position <= position);
    if (last?.status === undefined) continue;
    const { graphId, createdAt, created } = run;
    const { status, attempt } = last;
    found.push({ ...{ runId, graphId, status, attempt }, createdAt, created });
  }
  return found.sort((a, b) => b.createdAt - a.createdAt || b.created - a.created);
}
