/** What a graph worker needs to know to record a run. */
export interface RecordingOrder {
  /** Random values of the attempt's tasks are drawn from it. */
  readonly seed: string;
  /** Limit of the compressed recording. */
  readonly maxBytes: number;
  /** Environment variables whose values are kept. */
  readonly env: readonly string[];
}
