/** The threads of a log, newest first, with what a person recognises them by. */
import { toTimestamp } from '../kernel/clock.ts';
import { isObject, type Json } from '../kernel/json.ts';
import type { History } from '../log/sqlite/history.ts';
import { threadStream } from '../thread/events.ts';

export interface ListedThread {
  readonly thread_id: string;
  readonly status: string;
  readonly updated_at: string;
  readonly graph_id: string | null;
  readonly runs: number;
  readonly events: number;
  /** The first words that were said, at most `MAX_FIRST_LENGTH` characters. */
  readonly first: string | null;
  /** Name and message of the last run's error. */
  readonly error: string | null;
}

const MAX_FIRST_LENGTH = 40;
/** Events among which the first run of a thread is looked for. */
const FIRST_EVENTS = 5;

/** `all`: threads of stateless runs are listed, too. */
export function listThreads(history: History, all: boolean): ListedThread[] {
  return history.rows
    .all<{
      thread_id: string;
      status: string;
      updated_at: number;
      runs: number;
      events: number;
      graph_id: string | null;
      error: string | null;
    }>(
      `SELECT thread_id, status, updated_at, error, metadata ->> 'graph_id' AS graph_id,
         (SELECT count(*) FROM runs WHERE runs.thread_id = threads.thread_id) AS runs,
         (SELECT count(*) FROM events WHERE stream = 'thread-' || threads.thread_id) AS events
       FROM threads WHERE temporary <= @temporary ORDER BY updated_at DESC`,
      { temporary: all ? 1 : 0 },
    )
    .map((row) => ({
      ...row,
      updated_at: toTimestamp(row.updated_at),
      first: firstWords(history, row.thread_id),
      error: row.error === null ? null : errorText(JSON.parse(row.error) as Json),
    }));
}

function firstWords(history: History, threadId: string): string | null {
  for (const { type, data } of history.readStream(threadStream(threadId), 1, FIRST_EVENTS)) {
    if (type !== 'RunCreated') continue;
    const { input } = data.kwargs;
    const messages = isObject(input) ? input['messages'] : undefined;
    const [message] = Array.isArray(messages) ? messages : [messages];
    const content = isObject(message) ? message['content'] : message;
    const text = typeof content === 'string' ? content : input === null ? null : JSON.stringify(input);
    return text !== null && text.length > MAX_FIRST_LENGTH ? `${text.slice(0, MAX_FIRST_LENGTH)}…` : text;
  }
  return null;
}

const errorText = (error: Json): string =>
  isObject(error) ? `${String(error['error'])}: ${String(error['message'])}` : String(error);
