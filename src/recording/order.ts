/** What a graph worker needs to know to record a run. */
export interface RecordingOrder {
  /** Random values of the attempt's tasks are drawn from it. */
  readonly seed: string;
  /** Limit of the compressed recording. */
  readonly maxBytes: number;
  /** Environment variables whose values are kept. */
  readonly env: readonly string[];
}

/** What a graph worker needs to know to keep a run's calls for its next attempt, and to serve those of earlier ones. */
export interface CallsOrder {
  /** Random values of the run's tasks are drawn from it, unless earlier attempts have had another one. */
  readonly seed: string;
  /** Deaths that the run has been charged with. */
  readonly charges: number;
  /** Requests without an idempotency key get one. */
  readonly keys: boolean;
  /** Limit of what the log keeps of the run, compressed. */
  readonly maxBytes: number;
  /** Calls that earlier attempts kept (kept-calls.ts), in base64. */
  readonly kept: readonly string[];
}
