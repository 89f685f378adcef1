/** What is measured, and in which words it travels between the processes of the benchmark. */

export interface Figure {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Milliseconds until the first frame, where there are frames. */
  readonly firstP50?: number;
  /** Processor time of the server and its workers, or of the engine, in milliseconds for each. */
  readonly cpuMs?: number;
  /** Bytes that the server wrote to the disk, and that it kept, in KiB for each. */
  readonly writtenKb?: number;
  readonly keptKb?: number;
}

/** What the process that asks is told to do. */
export type LoadOrder =
  | {
      readonly kind: 'loop';
      readonly base: string;
      readonly flow: Flow;
      readonly graph: string;
      readonly lanes: number;
      readonly seconds: number;
      /** The server whose processor time and bytes are told, and its data directory. */
      readonly watched?: { readonly pid: number; readonly dir: string };
    }
  | { readonly kind: 'turns'; readonly base: string; readonly graph: string; readonly turns: number }
  | {
      readonly kind: 'streams';
      readonly base: string;
      readonly graph: string;
      readonly streams: number;
      readonly frames: number;
      readonly everyMs: number;
    };

/** What one lane does again and again. */
export type Flow = 'post' | 'thread' | 'wait' | 'thread-wait-state' | 'thread-stream' | 'reject';

/** A server that does as little as a server can; `dir` is for its rows. */
export interface BareOrder {
  readonly what: 'http' | 'hono' | 'rows' | 'engine' | 'engine and rows';
  readonly dir: string;
}

export interface EngineOrder {
  readonly kind: 'engine';
  readonly lanes: number;
  readonly seconds: number;
  /** Between two runs of a lane: what a server's thread has while others work for the same request. */
  readonly restMs?: number;
}
export type EngineTurnsOrder = { readonly kind: 'engine-turns'; readonly turns: number };
/** Requests a second for so many seconds (sizing.ts). */
export interface SizingOrder {
  readonly kind: 'sizing';
  readonly base: string;
  readonly reads: number;
  readonly writes: number;
  readonly seconds: number;
}
export interface SizingFigures {
  /** Milliseconds from when a request was due. */
  readonly readP99: number;
  readonly writeP99: number;
  readonly sent: number;
  /** Requests without a good answer. */
  readonly lost: number;
  readonly seconds: number;
}
export type PartOrder = LoadOrder | EngineOrder | EngineTurnsOrder | SizingOrder;

export interface StreamFigures {
  /** While all streams were open. */
  readonly framesPerSecond: number;
  /** How long that was. */
  readonly seconds: number;
  /** Frames that came, of those that were sent. */
  readonly share: number;
  /** Milliseconds from the graph to the client. */
  readonly addedP50: number;
  readonly addedP99: number;
}

/** Milliseconds of each turn. */
export type Turns = readonly number[];

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export const toFigure = (
  times: readonly number[],
  elapsedMs: number,
  firsts: readonly number[] = [],
): Figure => ({
  perSecond: times.length / (elapsedMs / 1000),
  p50: percentile(times, 0.5),
  p99: percentile(times, 0.99),
  ...(firsts.length > 0 && { firstP50: percentile(firsts, 0.5) }),
});
