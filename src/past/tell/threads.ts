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

/** `all`: also lists threads of stateless runs and of crons. */
export async function listThreads(history: History, all: boolean): Promise<ThreadList> {
  const rows = await history.past.threads();
  const shown = rows.filter(({ is_side }) => all || is_side === 0);
  return {
    threads: shown.map(({ thread_id, status, updated_at, graph_id, runs, events, error }) => ({
      ...{ thread_id, status, updated_at: toTimestamp(updated_at), graph_id, runs, events },
      first: firstInput(history, thread_id),
      error: error === null ? null : errorText(JSON.parse(error) as Json),
    })),
    leftOut: rows.length - shown.length,
  };
}

function firstInput(history: History, threadId: string): string | null {
  for (const { type, data } of history.readStream(threadStream(threadId), 1, MAX_SEARCHED_EVENTS))
    if (type === 'RunCreated') return data.kwargs.input === null ? null : firstWords(data.kwargs.input);
  return null;
}

export const errorText = (error: Json): string =>
  isObject(error) ? `${String(error['error'])}: ${String(error['message'])}` : String(error);
