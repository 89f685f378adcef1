/** Port of the process that executes runs again. */
import type { JsonObject } from '../../kernel/json.ts';
import type { RunRef } from '../../thread/events.ts';

interface ReexecutionRequest {
  readonly match: 'exact' | 'url';
  readonly stub: readonly string[];
  readonly from?: string | undefined;
  readonly set: JsonObject;
  readonly allowUnused: boolean;
  /** Bodies that replace those of recorded answers, by the number of the exchange, from 1. */
  readonly answers: Readonly<Record<string, string>>;
}

/** Executes one run at a time; others wait for it. */
export interface Reexecutions {
  /** Resolves with the report as JSON text. Rejects when `signal` aborts or no process can be started. */
  report(run: RunRef, request: ReexecutionRequest, signal: AbortSignal): Promise<string>;
}
