/** Content of a run beside its facts: recorded exchanges and its report. */
import { ask, send } from './http.ts';

export interface RecordedBody {
  readonly content_type: string | null;
  readonly size: number | null;
  /** Null: larger than what a list holds. */
  readonly text: string | null;
  readonly encoding: 'utf8' | 'base64';
}

export interface Exchange {
  readonly n: number;
  readonly attempt: number;
  readonly step: number | null;
  readonly node: string | null;
  readonly at: string;
  readonly request: { readonly method: string; readonly url: string; readonly body: RecordedBody | null };
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: RecordedBody;
    readonly took_ms: number;
  } | null;
  readonly failure: { readonly name: string; readonly message: string } | null;
}

const runPath = (threadId: string, runId: string): string => `/threads/${threadId}/runs/${runId}`;

export const exchangesOf = (threadId: string, runId: string): Promise<readonly Exchange[]> =>
  ask(`${runPath(threadId, runId)}/exchanges`, { query: { limit: 100 } });

export const exchangeOf = (threadId: string, runId: string, n: number): Promise<Exchange> =>
  ask(`${runPath(threadId, runId)}/exchanges/${n}`);

/** Markdown for a colleague or a coding agent. */
export const reportOf = async (threadId: string, runId: string): Promise<string> =>
  (await send(`${runPath(threadId, runId)}/report`)).text();
