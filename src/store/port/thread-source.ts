/** All that is stored of one thread, as of one moment: what an export reads. */
import type { JsonObject } from '../../kernel/json.ts';
import type { Recorded } from './events.ts';
import type { WriteText } from './payloads.ts';

/**
 * A text as it is stored: whole, or as what differs from an earlier one of the same source. Then it is the first `head`
 * UTF-16 units of `data`, `kept` units of the text `base` from its unit `start` on, and the rest of `data`.
 */
export interface SourceText {
  readonly data: string;
  /** Other texts may name it as their base; absent for a text that none does. */
  readonly key?: string;
  readonly splice?: {
    readonly base: string;
    readonly head: number;
    readonly start: number;
    readonly kept: number;
  };
  /** The whole text. */
  whole(): Promise<string>;
}

/** A channel's value under its version. */
interface SourceValue {
  readonly kind: 'value';
  readonly runId: string;
  readonly ns: string;
  readonly channel: string;
  readonly version: string;
  readonly text: SourceText;
}

interface SourceCheckpoint {
  readonly kind: 'checkpoint';
  readonly runId: string;
  readonly ns: string;
  readonly checkpointId: string;
  readonly parentId: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Highest frame id of the run when it saved the checkpoint; null if no executor saved it. */
  readonly lastFrame: number | null;
  readonly metadata: JsonObject;
  readonly channelVersions: Readonly<Record<string, string>>;
  readonly valueChannels: readonly string[];
  readonly text: SourceText;
}

interface SourceWrite extends Omit<WriteText, 'data'> {
  readonly kind: 'write';
  readonly runId: string;
  readonly ns: string;
  readonly checkpointId: string;
  readonly text: SourceText;
}

export interface SourceFrame {
  readonly kind: 'frame';
  readonly runId: string;
  readonly id: number;
  readonly event: string;
  readonly at: number;
  /** The text shows the state of its graph (`NewFrame.state`). */
  readonly showsState: boolean;
  readonly text: SourceText;
}

interface SourceUntracked {
  readonly kind: 'untracked';
  readonly runId: string;
  readonly text: SourceText;
}

/** What a run printed, and its calls. */
interface SourceCalls {
  readonly kind: 'calls';
  readonly runId: string;
  readonly text: SourceText;
}

/** A part of a run's recording, compressed. */
interface SourceRecording {
  readonly kind: 'recording';
  readonly runId: string;
  readonly bytes: Uint8Array;
}

export type SourcePayload =
  | SourceValue
  | SourceCheckpoint
  | SourceWrite
  | SourceFrame
  | SourceUntracked
  | SourceCalls
  | SourceRecording;

export interface ThreadSource {
  /** Events of one stream from a version on, in order. */
  readStream(stream: string, from: number, limit: number): Promise<Recorded[]>;
  /** Payload characters, for a forecast of how long reading takes. */
  size(): Promise<number>;
  /**
   * In an order in which they can be written: a checkpoint follows the values that it names, and precedes what tasks
   * wrote on it; frames come in order of their runs. Holds none of them for longer than it takes to yield it.
   */
  payloads(): AsyncGenerator<SourcePayload>;
  close(): Promise<void>;
}
