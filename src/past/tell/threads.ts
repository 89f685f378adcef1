/** Lists the threads of a log, newest first, with texts that identify them. */
import { toTimestamp } from '../../kernel/clock.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import type { History } from '../../store/port/past.ts';
import { threadStream } from '../../thread/events.ts';
import { firstWords } from './summary.ts';

interface ListedThread {
  readonly thread_id: string;
  readonly status: string;
  readonly updated_at: string;
  readonly graph_id: string | null;
  readonly runs: number;
  readonly events: number;
  readonly last_run_id: string | null;
  /** Identity of the caller that created it. */
  readonly user: string | null;
  /** Beginning of the first message, or the first input as JSON. */
  readonly first: string | null;
  /** Name and message of the last run's error. */
  readonly error: string | null;
}

export interface ThreadList {
  readonly threads: readonly ListedThread[];
  /** Number of omitted threads of stateless runs and of crons. */
  readonly leftOut: number;
}

/** Events that are searched for the first run of a thread. */
const MAX_SEARCHED_EVENTS = 5;

export interface ThreadFilter {
  /** Also lists threads of stateless runs and of crons. */
  readonly all?: boolean;
  readonly status?: string;
  readonly graph?: string;
  /** Milliseconds since 1970: changed since then. */
  readonly since?: number;
  /** Identity of the caller that created the thread or its first run. */
  readonly user?: string;
  /** Part of the id, the first input or the error, in any case. */
  readonly text?: string;
  readonly limit?: number;
}

export async function listThreads(history: History, filter: ThreadFilter): Promise<ThreadList> {
  const { all = false, status, graph, since = 0, user, text = '', limit = Infinity } = filter;
  const rows = await history.past.threads();
  const shown = rows.filter(({ is_side }) => all || is_side === 0);
  const threads: ListedThread[] = [];
  for (const { thread_id, updated_at, graph_id, runs, events, error: json, ...row } of shown) {
    if (threads.length >= limit) break;
    if (status !== undefined && row.status !== status) continue;
    if (graph !== undefined && graph_id !== graph) continue;
    if (updated_at < since) continue;
    const { input, users } = await beginningOf(history, thread_id);
    if (user !== undefined && !users.includes(user)) continue;
    const error = json === null ? null : errorText(JSON.parse(json) as Json);
    const searched = `${thread_id} ${JSON.stringify(input)} ${error ?? ''}`;
    if (!searched.toLowerCase().includes(text.toLowerCase())) continue;
    threads.push({
      ...{ thread_id, status: row.status, updated_at: toTimestamp(updated_at), graph_id, runs, events },
      ...{ last_run_id: (await history.views.runs.latest(thread_id))?.runId ?? null, user: users[0] ?? null },
      ...{ first: input === null ? null : firstWords(input), error },
    });
  }
  return { threads, leftOut: rows.length - shown.length };
}

/** Who began the thread, and with which input. */
async function beginningOf(
  history: History,
  threadId: string,
): Promise<{ input: Json; users: readonly string[] }> {
  const users: string[] = [];
  for (const { type, data } of await history.readStream(threadStream(threadId), 1, MAX_SEARCHED_EVENTS)) {
    if (data.by !== undefined) users.push(data.by);
    if (type === 'RunCreated') return { input: data.kwargs.input, users };
  }
  return { input: null, users };
}

export const errorText = (error: Json): string =>
  isObject(error) ? `${String(error['error'])}: ${String(error['message'])}` : String(error);
