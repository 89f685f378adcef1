/**
 * Bytes that facts refer to but do not carry: checkpoints, frames, webhook bodies, secrets. They are written
 * in the transaction of the commit they belong to and kept as text that nobody re-encodes.
 */
import type { JsonObject } from '../../kernel/json.ts';
import type { Filter } from '../../kernel/filter.ts';
import type { JsonText } from '../../kernel/json-text.ts';
import type { CheckpointKey } from '../../thread/events.ts';

export interface FrameText {
  readonly event: string;
  readonly data: string;
}

export interface NewFrame extends FrameText {
  /**
   * The text repeats the state of its graph, so it may be stored as a difference from an earlier text of the thread.
   * `whole` shows the state alone, `part` shows it within other data.
   */
  readonly state?: 'whole' | 'part' | undefined;
}

export interface StoredFrame extends FrameText {
  /** Dense from 0 within the run, across attempts (S1). */
  readonly id: number;
  /** When it was committed, milliseconds since 1970; 0 for frames of data written before this was kept. */
  readonly at: number;
}

/** A channel's value under the version that the graph's runtime gave it. */
export interface ChannelText {
  readonly channel: string;
  readonly version: string;
  readonly data: string;
}

export interface CheckpointText {
  readonly ns: string;
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly body: string;
  readonly metadata: JsonObject;
  readonly channelVersions: Record<string, string>;
  readonly blobs: readonly ChannelText[];
  readonly valueChannels: readonly string[];
}

export interface StoredCheckpoint extends Omit<CheckpointText, 'channelVersions'> {
  readonly writes: readonly WriteText[];
  readonly at: number;
}

export interface WriteText {
  readonly taskId: string;
  /** Empty if absent. Writes are read in the order of their paths, then of their tasks and indices. */
  readonly taskPath?: string;
  readonly idx: number;
  readonly channel: string;
  readonly data: string;
}

/** What a repeated request is answered with: it outlives the run and its thread. */
export interface AcceptedRequest {
  /** Of all that the request asked for. */
  readonly digest: string;
  readonly runId: string;
  readonly threadId: string;
}

export type PayloadWrite =
  /**
   * The thread's place in the queue: the earliest start that its runs allow, 0 to come before all others, null while a
   * run executes, undefined without open runs. `holder`: the node that executes it.
   */
  | { kind: 'queue'; threadId: string; next: number | null | undefined; holder?: string | undefined }
  /** `times`: when the frames were committed, if not in this commit, milliseconds since 1970. */
  | {
      kind: 'frames';
      runId: string;
      threadId: string;
      first: number;
      frames: readonly NewFrame[];
      times?: readonly number[];
    }
  /** The values that a run showed at its end and that no checkpoint holds, as JSON text; erased with its frames. */
  | { kind: 'untracked-values'; runId: string; threadId: string; data: string }
  /**
   * What the run printed, and its calls of models and tools: JSON text of a list of `CallRecord` (thread/call-record.ts); erased with
   * the run's content.
   */
  | { kind: 'calls'; runId: string; threadId: string; data: string }
  /** A part of the run's recording, compressed; erased with the run's content. */
  | { kind: 'recording'; runId: string; threadId: string; data: Uint8Array }
  /**
   * X7 What an open run was answered, compressed, for its next attempt: whole, so it is never exported, copied, backed up or
   * shown. `base`: the root checkpoint whose tasks asked.
   */
  | { kind: 'resume'; runId: string; threadId: string; base?: string | undefined; data: Uint8Array }
  /** Erases what the run was answered; with `base` all but what has this base or none. */
  | { kind: 'erase-resume'; runId: string; base?: string }
  /** `lastFrame`: of the run when it saved the checkpoint. */
  | {
      kind: 'checkpoint';
      threadId: string;
      runId: string;
      checkpoint: CheckpointText;
      lastFrame?: number;
      /** When it was saved, if not in this commit: milliseconds since 1970. */
      at?: number;
    }
  /** Values of channels whose checkpoints are written by themselves. */
  | {
      kind: 'channel-values';
      threadId: string;
      runId: string;
      ns: string;
      values: readonly ChannelText[];
    }
  | {
      kind: 'checkpoint-writes';
      threadId: string;
      runId: string;
      ns: string;
      checkpointId: string;
      writes: readonly WriteText[];
    }
  /** What a run needs of the user; erased with the run's end (A4). */
  | { kind: 'secret'; runId: string; threadId: string; data: string }
  | { kind: 'erase-secret'; runId: string }
  /** What the runs of a cron will need of its maker; erased with the cron (A4). */
  | { kind: 'cron-secret'; cronId: string; data: string }
  | { kind: 'erase-cron-secret'; cronId: string }
  | { kind: 'body'; deliveryId: string; threadId: string; data: string }
  | { kind: 'erase-body'; deliveryId: string }
  /** An item's value as JSON text, in the place of an earlier one. */
  | { kind: 'item-value'; itemId: string; data: string }
  /** All vectors that an item is found by, each as base64 of 32-bit floats. */
  | { kind: 'item-vectors'; itemId: string; vectors: readonly string[] }
  | { kind: 'erase-item'; itemId: string }
  /** The run that a request of a client was accepted as; `key` is the command id of its acceptance. `at`: if not in this commit. */
  | ({ kind: 'request'; key: string; at?: number } & AcceptedRequest)
  /**
   * Command ids older than this are no longer answered with their first receipt, and requests no longer with their
   * runs; at most `limit` of each go at once.
   */
  | { kind: 'forget-commands'; before: number; limit: number }
  /** The requests that created these runs of the stream, or all of its runs, may be accepted again. */
  | { kind: 'forget-requests'; stream: string; runIds?: readonly string[] }
  /**
   * The run's checkpoints vanish, but those of `kept`, and so does what it wrote on others and every value that no
   * checkpoint refers to any more.
   */
  | { kind: 'forget-checkpoints'; threadId: string; runId: string; kept: readonly CheckpointKey[] }
  /** All checkpoints of the thread vanish but those of `kept`, in the same manner. */
  | { kind: 'keep-checkpoints'; threadId: string; kept: readonly CheckpointKey[] }
  /** Everything that is stored of the thread's checkpoints, for another thread that has none. */
  | { kind: 'copy-checkpoints'; from: string; threadId: string }
  /** The content of these runs' facts vanishes (thread/redact.ts). */
  | { kind: 'redact-runs'; stream: string; runIds: readonly string[] }
  | { kind: 'forget-frames'; runId: string; threadId: string }
  /** The stream's facts before this one, which stands for all of them, vanish for good (L3). */
  | { kind: 'purge-stream'; stream: string; tombstone: number }
  | { kind: 'forget-thread-frames'; threadId: string }
  /** Texts of checkpoints that come from a file are written under the key as their thread's id. */
  | { kind: 'begin-import'; storageKey: string; threadId: string }
  /** What was written under the key is the thread's from now on. */
  | { kind: 'complete-import'; storageKey: string; threadId: string }
  /** Some of what the import wrote vanishes, and in the end the import itself. */
  | { kind: 'erase-import'; storageKey: string }
  /** Deletion: everything of the thread but its tombstone vanishes for good (L3). */
  | { kind: 'purge-thread'; threadId: string; stream: string; tombstone: number };

/** A checkpoint without its values. */
export interface CheckpointOutline extends CheckpointKey {
  readonly parentId: string | null;
  readonly runId: string;
  readonly body: string;
  readonly metadata: JsonObject;
  /** The channels of the writes on it. */
  readonly written: readonly string[];
}

/** What a thread occupies, in bytes of text. */
export interface StorageUse {
  readonly checkpoints: StorageSum;
  readonly channels: readonly (StorageSum & { readonly channel: string })[];
  readonly writes: StorageSum;
}

export interface StorageSum {
  readonly count: number;
  readonly bytes: number;
}

/** Of the channels that make up the state only these come with a checkpoint; all others always come. */
export interface ChannelChoice {
  readonly names: readonly string[];
  /** Channels that have writes on the checkpoint come too. */
  readonly written: boolean;
}

export interface CheckpointFilter {
  readonly ns?: string;
  readonly before?: string;
  readonly limit?: number;
  /** The list ends once its values have this many characters; it has at least one checkpoint. */
  readonly maxChars?: number;
  readonly metadata?: JsonObject;
  readonly choice?: ChannelChoice;
}

/** Reads payloads; all answers are as of the last commit. */
export interface PayloadReader {
  checkpoint(
    threadId: string,
    ns: string,
    checkpointId?: string,
    choice?: ChannelChoice,
  ): Promise<StoredCheckpoint | undefined>;
  /** Newest first. */
  checkpoints(threadId: string, filter: CheckpointFilter): Promise<StoredCheckpoint[]>;
  /** All of a thread's checkpoints, newest first. */
  outline(threadId: string): Promise<CheckpointOutline[]>;
  storage(threadId: string): Promise<StorageUse>;
  /** What the thread shows of its last run's config; undefined for a thread without runs. */
  lastConfig(threadId: string): Promise<JsonObject | undefined>;
  /**
   * The thread's values as clients see them, or undefined when the checkpoint is gone or never was. `writes`: of a commit
   * that is yet to come, whose checkpoints count.
   */
  values(
    threadId: string,
    checkpointId: string,
    writes?: readonly PayloadWrite[],
  ): Promise<JsonText | undefined>;
  /** The threads, in the order given, whose values at that checkpoint pass the filter. */
  containing(
    heads: readonly { readonly threadId: string; readonly checkpointId: string }[],
    filter: Filter,
  ): Promise<string[]>;
  /** At most `limit` frames with ids above `after`, in order, and fewer when they are large; never none of some. */
  frames(runId: string, after: number, limit: number): Promise<StoredFrame[]>;
  /** All frames of a name, of every graph within the run, in order. For names of few and short frames. */
  framesNamed(runId: string, name: string): Promise<StoredFrame[]>;
  /**
   * The highest frame id of the run when it saved this checkpoint of its root graph; undefined when it saved no such
   * one.
   */
  lastFrameAt(
    run: { readonly runId: string; readonly threadId: string },
    checkpointId: string,
  ): Promise<number | undefined>;
  /** The highest frame id of the run, -1 before the first. */
  lastFrame(runId: string): Promise<number>;
  /** What the run showed at its end and no checkpoint holds: JSON text of an object. */
  untracked(runId: string): Promise<string | undefined>;
  /** The parts of the run's recording in order, the first `limit` or all; none when it was not recorded. */
  recording(runId: string, limit?: number): Promise<Uint8Array[]>;
  /** What the run printed, and its calls, in order: JSON texts of lists. */
  calls(runId: string): Promise<string[]>;
  /** What earlier attempts of an open run were answered, in order. */
  resume(runId: string): Promise<Uint8Array[]>;
  secret(runId: string): Promise<string | undefined>;
  cronSecret(cronId: string): Promise<string | undefined>;
  body(deliveryId: string): Promise<string | undefined>;
  request(key: string): Promise<AcceptedRequest | undefined>;
}
