/** Model and tool calls of a run, and the lines that its graph code printed, in their order. */
import { ask } from './http.ts';
import type { Json, Usage } from './types.ts';

export interface SeenCall {
  readonly kind: 'model' | 'tool' | 'print';
  readonly name: string;
  readonly node: string | null;
  readonly step: number | null;
  /** Of a printed line. */
  readonly text: string;
  readonly tookMs: number | null;
  readonly isFailed: boolean;
  readonly usage: Usage | undefined;
}

export async function callsOf(threadId: string, runId: string): Promise<readonly SeenCall[]> {
  const found = await ask<Json>(`/threads/${threadId}/runs/${runId}/calls`);
  return found as unknown as readonly SeenCall[];
}
