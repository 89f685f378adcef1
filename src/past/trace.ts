/** What a run left behind in the log: its checkpoints, writes, frames and end. */
import type { Json, JsonObject } from '../kernel/json.ts';
import type { StoredFrame, WriteText } from '../log/payloads.ts';
import type { History } from '../log/sqlite/history.ts';
import type { CheckpointKey, Outcome } from '../thread/events.ts';

/** A checkpoint with its place in the history of the run. */
export interface RunCheckpoint {
  readonly ns: string;
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly metadata: JsonObject;
  /** Stored text of every channel's value, by channel. */
  readonly channels: ReadonlyMap<string, string>;
  /** Channels whose values were saved with this checkpoint. */
  readonly changed: ReadonlySet<string>;
}

export interface RunWrite extends WriteText {
  readonly ns: string;
  readonly checkpointId: string;
}

/** What a run left behind, in the order in which it was saved. */
export interface RunTrace {
  readonly checkpoints: readonly RunCheckpoint[];
  readonly writes: readonly RunWrite[];
  readonly frames: readonly { readonly event: string; readonly data: string }[];
  /** Undefined while the run is open. */
  readonly outcome: Outcome | undefined;
}

export async function readCheckpoints(
  history: History,
  threadId: string,
  own: readonly { readonly ns: string; readonly checkpointId: string }[],
): Promise<RunCheckpoint[]> {
  const versions = new Map<string, ReadonlyMap<string, string>>();
  const checkpoints: RunCheckpoint[] = [];
  for (const { ns, checkpointId } of own) {
    const stored = await history.payloads.checkpoint(threadId, ns, checkpointId);
    if (stored === undefined) continue;
    const before = versions.get(`${ns} ${stored.parentId}`) ?? new Map<string, string>();
    const after = new Map(stored.blobs.map(({ channel, version }) => [channel, version]));
    versions.set(`${ns} ${checkpointId}`, after);
    checkpoints.push({
      ...{ ns, checkpointId, parentId: stored.parentId, metadata: stored.metadata },
      channels: new Map(stored.blobs.map(({ channel, data }) => [channel, data])),
      changed: new Set([...after].flatMap(([name, version]) => (before.get(name) === version ? [] : [name]))),
    });
  }
  return checkpoints;
}

const FRAMES_PER_PAGE = 1_000;

export async function readFrames(history: History, runId: string): Promise<StoredFrame[]> {
  const frames: StoredFrame[] = [];
  for (;;) {
    const page = await history.payloads.frames(runId, frames.at(-1)?.id ?? -1, FRAMES_PER_PAGE);
    if (page.length === 0) return frames;
    frames.push(...page);
  }
}

export const keyOf = ({ ns, checkpointId }: CheckpointKey): string => `${ns} ${checkpointId}`;

export const parseStored = (text: string): Json => JSON.parse(text) as Json;

/** Node path of a namespace: `a:1f0…|b:2e9…` becomes `a|b`. */
export const pathOf = (ns: string): string => ns.replace(/:[^|]+/g, '');
