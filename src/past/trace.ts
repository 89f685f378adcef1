/** Reads from a log what a thread or one of its runs left behind: events, checkpoints, writes, frames and the end. */
import type { Json, JsonObject } from '../kernel/json.ts';
import { startTurn } from '../kernel/turn.ts';
import type { Recorded } from '../store/port/events.ts';
import type { PayloadReader, StoredFrame, WriteText } from '../store/port/payloads.ts';
import type { History } from '../store/port/past.ts';
import { threadStream, type CheckpointKey, type Outcome, type ThreadEvent } from '../thread/events.ts';
import type { RunRecord } from '../store/port/views/runs.ts';

/** A log that a run is read from: one of the past, or the open one. */
export interface RunSource {
  readStream(stream: string, from: number, limit: number): Promise<Recorded[]>;
  readonly payloads: PayloadReader;
}

/** A checkpoint with its place in the history of the run. */
export interface RunCheckpoint extends CheckpointKey {
  readonly parentId: string | null;
  readonly metadata: JsonObject;
  /** Stored text of every channel's value, by channel. */
  readonly channels: ReadonlyMap<string, string>;
  /** Frames that precede it; told by a re-execution. */
  readonly framesBefore?: number;
  /** Channels whose values were saved with this checkpoint. */
  readonly changed: ReadonlySet<string>;
}

export interface RunWrite extends CheckpointKey, WriteText {}

/** Everything that a run left behind, in the order in which it was saved. */
export interface RunTrace {
  readonly checkpoints: readonly RunCheckpoint[];
  readonly writes: readonly RunWrite[];
  readonly frames: readonly { readonly event: string; readonly data: string }[];
  /** Undefined while the run is open. */
  readonly outcome: Outcome | undefined;
}

const PAGE_EVENTS = 500;
const PAGE_FRAMES = 1_000;

/** Returns a stream's events in order. */
export async function readEvents(history: History, stream: string): Promise<Recorded[]> {
  const events: Recorded[] = [];
  for (;;) {
    const page = await history.readStream(stream, (events.at(-1)?.meta.version ?? 0) + 1, PAGE_EVENTS);
    if (page.length === 0) return events;
    events.push(...page);
  }
}

/** Returns a thread's events in order. */
export const readThreadEvents = (history: History, threadId: string): Promise<Recorded<ThreadEvent>[]> =>
  readEvents(history, threadStream(threadId)) as Promise<Recorded<ThreadEvent>[]>;

/** Returns the run's events, from its first start on. */
export async function readRunEvents(
  source: RunSource,
  { threadId, runId, ordinal }: RunRecord,
): Promise<Recorded[]> {
  const events: Recorded[] = [];
  const turn = startTurn();
  for (let from = ordinal; from !== null;) {
    const page = await source.readStream(threadStream(threadId), from, PAGE_EVENTS);
    for (const event of page) {
      if (!('runId' in event.data) || event.data.runId !== runId) continue;
      events.push(event);
      if (event.type === 'RunCompleted') return events;
    }
    from = page.length === 0 ? null : page.at(-1)!.meta.version + 1;
    await turn();
  }
  return events;
}

/** `own`: keys of the run's checkpoints, in order. */
export async function readCheckpoints(
  { payloads }: RunSource,
  threadId: string,
  own: readonly CheckpointKey[],
): Promise<RunCheckpoint[]> {
  const versions = new Map<string, ReadonlyMap<string, string>>();
  const checkpoints: RunCheckpoint[] = [];
  for (const { ns, checkpointId } of own) {
    const stored = await payloads.checkpoint(threadId, ns, checkpointId);
    if (stored === undefined) continue;
    const before = versions.get(`${ns} ${stored.parentId}`) ?? new Map<string, string>();
    const after = new Map(stored.blobs.map(({ channel, version }) => [channel, version]));
    versions.set(keyOf(stored), after);
    checkpoints.push({
      ...{ ns, checkpointId, parentId: stored.parentId, metadata: stored.metadata },
      channels: new Map(stored.blobs.map(({ channel, data }) => [channel, data])),
      changed: new Set([...after].flatMap(([name, version]) => (before.get(name) === version ? [] : [name]))),
    });
  }
  return checkpoints;
}

export async function readFrames({ payloads }: RunSource, runId: string): Promise<StoredFrame[]> {
  const frames: StoredFrame[] = [];
  for (;;) {
    const page = await payloads.frames(runId, frames.at(-1)?.id ?? -1, PAGE_FRAMES);
    if (page.length === 0) return frames;
    frames.push(...page);
  }
}

export const keyOf = ({ ns, checkpointId }: CheckpointKey): string => `${ns} ${checkpointId}`;

export const parseStored = (text: string): Json => JSON.parse(text) as Json;
