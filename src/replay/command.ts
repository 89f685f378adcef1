/**
 * `replay`: reads a data directory's log. R1 It opens the log read-only and imports nothing that could cause an effect.
 */
import { resolve } from 'node:path';
import { toTimestamp } from '../kernel/clock.ts';
import { isUuid } from '../kernel/ids.ts';
import { openHistory, type History } from '../log/sqlite/history.ts';
import { containsJson } from '../projections/filters.ts';
import { projection } from '../projections/projection.ts';
import { cronTimelineOf, stateAt, timelineOf, traceOf, type Entry } from './timeline.ts';
import { verify } from './verify.ts';

const EXIT_DIFFERENT = 1;
/** Columns before the time of an entry. */
const TRACE_INDENT = 9;

export interface ReplayOptions {
  readonly data?: string;
  readonly thread?: string;
  readonly cron?: string;
  readonly to?: string;
  readonly json?: boolean;
  readonly verify?: boolean;
}

export interface ReplayEnvironment {
  readonly [name: string]: string | undefined;
}

/** Returns the exit code. Throws, with words for the caller, when the arguments or the directory are wrong. */
export async function runReplay(
  values: ReplayOptions,
  env: ReplayEnvironment,
  print: (line: string) => void,
): Promise<number> {
  const data = values.data ?? env['PLATFORM_DATA'];
  if (data === undefined) throw new Error('--data: expected the data directory of a server');
  const { json = false } = values;
  if (values.thread !== undefined && !isUuid(values.thread)) throw new Error('--thread: expected a UUID');
  if (values.cron !== undefined && !isUuid(values.cron)) throw new Error('--cron: expected a UUID');
  if (values.to !== undefined && !/^\d+$/.test(values.to)) throw new Error('--to: expected a position');
  if (values.to !== undefined && values.thread === undefined)
    throw new Error('--to: expected together with --thread');
  if (values.verify && (values.thread ?? values.cron) !== undefined)
    throw new Error('--verify: expected without --thread and --cron: it is about the whole log');
  if (values.cron !== undefined && values.thread !== undefined)
    throw new Error('--cron: expected without --thread');

  const history = openHistory(resolve(data), projection, { json_contains: containsJson });
  try {
    if (values.verify) return await printVerified(history, json, print);
    if (values.cron !== undefined)
      return printTimeline(cronTimelineOf(history, values.cron), `cron ${values.cron}`, json, print);
    if (values.thread === undefined) printThreads(history, json, print);
    else if (values.to !== undefined)
      return await printState(history, values.thread, Number(values.to), json, print);
    else return printTimeline(timelineOf(history, values.thread), `thread ${values.thread}`, json, print);
    return 0;
  } finally {
    history.close();
  }
}

type Print = (line: string) => void;

function printThreads(history: History, json: boolean, print: Print): void {
  const threads = history.rows
    .all<{ thread_id: string; status: string; updated_at: number; runs: number; events: number }>(
      `SELECT thread_id, status, updated_at,
         (SELECT count(*) FROM runs WHERE runs.thread_id = threads.thread_id) AS runs,
         (SELECT count(*) FROM events WHERE stream = 'thread-' || threads.thread_id) AS events
       FROM threads ORDER BY updated_at DESC`,
    )
    .map((row) => ({ ...row, updated_at: toTimestamp(row.updated_at) }));
  if (json) return print(JSON.stringify(threads));
  for (const { thread_id, status, updated_at, runs, events } of threads)
    print(`${thread_id}  ${status.padEnd(11)}  ${updated_at}  ${runs} runs, ${events} events`);
  print(`${threads.length} threads`);
}

function printTimeline(entries: readonly Entry[], of: string, json: boolean, print: Print): number {
  if (entries.length === 0) throw new Error(`${of} has no events here`);
  if (json) print(JSON.stringify(entries));
  else
    for (const entry of entries) {
      const { position, time, type, before, after, summary } = entry;
      const change = before === null ? '' : before === after ? `${before}` : `${before} → ${after}`;
      print(`${String(position).padStart(7)}  ${time}  ${type.padEnd(20)}  ${change.padEnd(20)}  ${summary}`);
      for (const frame of traceOf(entry)) print(`${' '.repeat(TRACE_INDENT)}${frame}`);
    }
  return 0;
}

async function printState(
  history: History,
  threadId: string,
  to: number,
  json: boolean,
  print: Print,
): Promise<number> {
  const { last } = history.rows.get<{ last: number }>(
    'SELECT coalesce(max(position), 0) AS last FROM events',
  )!;
  if (to > last) throw new Error(`--to: expected a position up to ${last}, the last of the log`);
  const state = await stateAt(history, threadId, to);
  if (state === undefined) throw new Error(`thread ${threadId} did not exist at position ${to}`);
  print(JSON.stringify(state, null, json ? 0 : 2));
  return 0;
}

async function printVerified(history: History, json: boolean, print: Print): Promise<number> {
  const { events, streams, finding } = await verify(history);
  const ok = finding === undefined;
  if (json) print(JSON.stringify({ ok, events, streams, ...(finding && { ...finding }) }));
  else if (ok)
    print(`verified: ${events} events in ${streams} streams, every row, snapshot and machine agrees`);
  else print(`position ${finding.position ?? 'none'}: ${finding.problem}`);
  return ok ? 0 : EXIT_DIFFERENT;
}
