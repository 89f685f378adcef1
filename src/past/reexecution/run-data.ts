/** Reads from a log everything that one run was made of and left behind. R1 Opens nothing for writing. */
import type { Recorded } from '../../store/port/events.ts';
import type { CheckpointFilter, StoredCheckpoint, WriteText } from '../../store/port/payloads.ts';
import type { History } from '../../store/port/past.ts';
import type { RecordingPart } from '../../recording/parts.ts';
import { parseBody } from '../../graphs/function/checkpoint-body.ts';
import { unpackParts } from '../../recording/unpack.ts';
import type { ThreadEvent } from '../../thread/events.ts';
import { activeOf } from '../../thread/state.ts';
import { foldThread } from '../fold.ts';
import { keyOf, readCheckpoints, readFrames, readThreadEvents, type RunTrace } from '../trace.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';

export interface RunData {
  readonly run: RunRecord;
  /** Head checkpoint before the first attempt. */
  readonly base: string | null;
  readonly parts: readonly RecordingPart[];
  /** Says why there is nothing to execute, or why the recording cannot be read. */
  readonly unreadable?: string;
  readonly trace: RunTrace;
  /** The trace is an expectation. Behind the recorded clock its times are those of the machine that made it. */
  readonly isExpected?: true;
  /** Trace and recording are those of one attempt. */
  readonly isWhole: boolean;
  /** The attempt continued a call whose state the run itself had saved. */
  readonly resume: boolean;
  /** Keys of checkpoints that later runs wrote on (`keyOf`): some writes of the run there are replaced. */
  readonly replaced: ReadonlySet<string>;
  /** A checkpoint of the thread from before the run; without an id the newest of the namespace. */
  before(ns: string, checkpointId: string | undefined): Promise<StoredCheckpoint | undefined>;
  /** Checkpoints of the thread from before the run, newest first. */
  listBefore(query: CheckpointFilter): Promise<StoredCheckpoint[]>;
  /** The writes that the checkpoint had before the run, as far as later runs have not replaced them. */
  writesBefore(checkpoint: StoredCheckpoint): Promise<WriteText[]>;
}

/** Throws when the log does not have the run. */
export async function readRunData(history: History, threadId: string, runId: string): Promise<RunData> {
  const run = await history.views.runs.get(runId, { threadId });
  if (run === undefined) throw new Error(`--run: thread ${threadId} has no run ${runId}`);
  const events = await readThreadEvents(history, threadId);
  const outline = [...(await history.payloads.outline(threadId))].reverse();
  const own = outline.filter((each) => each.runId === runId);
  const firstOwn = outline.findIndex((each) => each.runId === runId);
  const earlier = firstOwn < 0 ? outline : outline.slice(0, firstOwn);
  const writes = await history.past.writes(threadId, { runId });
  const isEarlier = new Set(earlier.map(keyOf));
  const started = events.flatMap(({ type, data }) => (type === 'RunStarted' ? [data.runId] : []));
  const later = new Set(started.slice(started.indexOf(runId)));
  const base = baseOf(events, runId);
  const last =
    own.at(-1) && (await history.payloads.checkpoint(threadId, own.at(-1)!.ns, own.at(-1)!.checkpointId));
  const data: RunData = {
    ...{ run, base: base ?? null, isWhole: run.attempt === 1, resume: false },
    ...(base === undefined && { unreadable: 'the run never started' }),
    ...unpackAll(await history.payloads.recording(runId)),
    trace: {
      checkpoints: await readCheckpoints(history, threadId, own),
      writes,
      frames: await readFrames(history, runId),
      outcome: run.outcome ?? undefined,
    },
    replaced: new Set(
      (await history.past.writers(threadId)).flatMap((writer) =>
        writer.runId !== runId && later.has(writer.runId) ? [keyOf(writer)] : [],
      ),
    ),
    async before(ns, checkpointId) {
      const id = checkpointId ?? earlier.findLast((each) => each.ns === ns)?.checkpointId;
      return id === undefined ? undefined : history.payloads.checkpoint(threadId, ns, id);
    },
    async listBefore(query) {
      const all = await history.payloads.checkpoints(threadId, query);
      return all.filter((each) => isEarlier.has(keyOf(each)));
    },
    async writesBefore({ ns, checkpointId }) {
      const all = await history.past.writes(threadId, { ns, checkpointId });
      return all.filter((write) => !later.has(write.runId));
    },
  };
  const isPlain = last !== undefined && parseBody(last.body) !== undefined;
  return isPlain && run.attempt > 1 ? ofLastAttempt(data) : data;
}

/** A later attempt calls a plain function again and skips what it had yielded: only such an attempt can be executed again. */
function ofLastAttempt(data: RunData): RunData {
  const parts = data.parts.filter(({ attempt }) => attempt === data.run.attempt);
  const head = parts.find((part) => part.kind === 'loaded' && part.ns === '' && part.asked === undefined);
  if (head?.kind !== 'loaded')
    return {
      ...data,
      unreadable: 'the last attempt, which called the plain function again, is not recorded',
    };
  const { frames } = data.trace;
  return {
    ...{ ...data, parts, isWhole: true, base: head.checkpointId },
    resume: data.trace.checkpoints.some(({ checkpointId }) => checkpointId === head.checkpointId),
    trace: {
      ...traceBehind(data.trace, head.checkpointId),
      // Every attempt begins with a frame of the server.
      frames: frames.slice(frames.findLastIndex(({ event }) => event === 'metadata') + 1),
    },
  };
}

/** The part of a trace that follows a root checkpoint of the run; all of it when the checkpoint is not one of them. */
export function traceBehind(trace: RunTrace, id: string | null): RunTrace {
  const at = trace.checkpoints.findIndex(({ checkpointId, ns }) => checkpointId === id && ns === '');
  const checkpoints = trace.checkpoints.slice(at + 1);
  const behind = new Set([id, ...checkpoints.map(({ checkpointId }) => checkpointId)]);
  return {
    ...{ ...trace, checkpoints },
    writes: trace.writes.filter(({ checkpointId }) => behind.has(checkpointId)),
  };
}

export function unpackAll(blobs: readonly Uint8Array[]): Pick<RunData, 'parts' | 'unreadable'> {
  try {
    return { parts: unpackParts(blobs) };
  } catch (error) {
    return { parts: [], unreadable: `the recording cannot be read: ${(error as Error).message}` };
  }
}

/** Undefined when the run never started. */
function baseOf(events: readonly Recorded<ThreadEvent>[], runId: string): string | null | undefined {
  const fold = foldThread();
  for (const event of events) {
    const { after } = fold.step(event);
    const active = activeOf(after);
    if (active?.runId === runId) return active.base;
  }
  return undefined;
}
