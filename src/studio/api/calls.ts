/** Model and tool calls of a run, and the lines that its graph code printed, in their order. */
import { ask } from './http.ts';

interface Placed {
  readonly sequence: number;
  readonly attempt: number;
  readonly step: number | null;
  readonly node: string | null;
}

interface Print extends Placed {
  readonly kind: 'print';
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

export interface Call extends Placed {
  readonly kind: 'model' | 'tool';
  readonly name: string;
  readonly model: string | null;
  readonly duration_ms: number;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number } | null;
  readonly error: string | null;
  /** The answer was that of an earlier attempt. */
  readonly served: boolean;
}

export interface Calls {
  readonly calls: readonly Call[];
  readonly prints: readonly Print[];
}

const MAX_CALLS = 1_000;

export async function callsOf(threadId: string, runId: string): Promise<Calls> {
  const found = await ask<readonly (Call | Print | { readonly kind: 'cut' })[]>(
    `/threads/${threadId}/runs/${runId}/calls`,
    { query: { limit: MAX_CALLS } },
  );
  return {
    calls: found.filter((each): each is Call => each.kind === 'model' || each.kind === 'tool'),
    prints: found.filter((each): each is Print => each.kind === 'print'),
  };
}
