/** A graph worker now, for the operator. */
export interface WorkerReport {
  /** Undefined when the process could not be started. */
  readonly pid: number | undefined;
  /** Runs and queries that it has. */
  readonly load: number;
  readonly runIds: readonly string[];
  /** Resident memory; undefined before its first sign of life. */
  readonly memoryBytes: number | undefined;
  readonly busyPermille: number | undefined;
  /** Its event loop has been blocked for so long. */
  readonly stalledMs: number;
}
