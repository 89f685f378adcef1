/** The state of a thread at any version. */
import { ask } from './http.ts';
import type { Checkpoint, Json, Question } from './types.ts';

export interface Change {
  readonly op: 'add' | 'remove' | 'replace';
  /** JSON Pointer into the values. */
  readonly path: string;
  readonly value?: Json;
  readonly before?: Json;
  /** The version that wrote the value, or removed it. */
  readonly version: number;
}

export interface VersionState {
  readonly version: number;
  readonly values: Json;
  /** The checkpoint of the moment was deleted. */
  readonly erased: boolean;
  readonly next: readonly string[];
  readonly interrupts: readonly Question[];
  readonly checkpoint: Checkpoint | null;
  readonly from?: number;
  readonly changes?: readonly Change[];
  readonly more_changes?: boolean;
}

/** Reads a state, with its changes since the version `from`; 0 is the empty beginning. */
export const stateAt = (
  threadId: string,
  version: number,
  options: { readonly from?: number | undefined; readonly signal?: AbortSignal } = {},
): Promise<VersionState> => {
  const { from, signal } = options;
  return ask(`/threads/${threadId}/state`, { query: { version, from }, ...(signal && { signal }) });
};
