/**
 * `replay`: reads a data directory's log. R1 It opens the log read-only and imports nothing that could cause an effect.
 */
import { resolve } from 'node:path';
import { isUuid } from '../kernel/ids.ts';
import { openHistory, type History } from '../log/sqlite/history.ts';
import { containsJson } from '../projections/filters.ts';
import { projection } from '../projections/projection.ts';
import { listThreads } from './threads.ts';
import { cronTimelineOf, stateAt, timelineOf, traceOf, type Entry } from './timeline.ts';
import { verify } from './verify.ts';

const EXIT_DIFFERENT = 1;
const DEFAULT_DATA = '.platform';
/** Columns before the time of an entry. */
const TRACE_INDENT = 9;

export interface ReplayOptions {
  readonly data?: string;
  readonly thread?: string;
  readonly cron?: string;
  readonly to?: string;
  readonly json?: boolean;
  /** Threads of stateless runs are listed, too. */
  readonly all?: boolean;
  /** Ids are printed whole. */
  readonly ids?: boolean;
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
  // Where `serve` keeps it when it is not told otherwise.
  const data = values.data ?? env['PLATFORM_DATA'] ?? DEFAULT_DATA;
  const { json = false, all = false, ids = false } = values;
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
    const form = { json, ids };
    if (values.cron !== undefined)
      return printTimeline(cronTimelineOf(history, values.cron), `cron ${values.cron}`, form, print);
    if (values.thread === undefined) printThreads(history, { json, all }, print);
    else if (values.to !== undefined)
      return await printState(history, values.thread, Number(values.to), json, print);
    else return printTimeline(timelineOf(history, values.thread), `thread ${values.thread}`, form, print);
    return 0;
  } finally {
    history.close();
  }
}

type Print = (line: string) => void;

function printThreads(history: History, { json, all }: { json: boolean; all: boolean }, print: Print): void {
  const threads = listThreads(history, all);
  if (json) return print(JSON.stringify(threads));
  for (const { thread_id, status, updated_at, graph_id, runs, events, first, error } of threads)
    print(
      [
        `${thread_id}  ${status.padEnd(11)}  ${shortTime(updated_at)}  ${(graph_id ?? '').padEnd(12)}`,
        `${runs} runs, ${events} events`,
        ...(first === null ? [] : [/^[{[]/.test(first) ? first : JSON.stringify(first)]),
        ...(error === null ? [] : [`last error: ${error}`]),
      ].join('  '),
    );
  print(`${threads.length} threads`);
}

function printTimeline(
  entries: readonly Entry[],
  of: string,
  { json, ids }: { json: boolean; ids: boolean },
  print: Print,
): number {
  const [first] = entries;
  if (first === undefined) throw new Error(`${of} has no events here`);
  if (json) {
    print(JSON.stringify(entries));
    return 0;
  }
  const shown = ids ? (text: string) => text : shortIds;
  print(`${of}, from ${first.time}`);
  for (const entry of entries) {
    const { position, time, type, before, after, summary, tookMs } = entry;
    const change = before === null ? '' : before === after ? `${before}` : `${before} → ${after}`;
    const took = tookMs === undefined ? '' : `, after ${tookMs} ms`;
    const place = `${String(position).padStart(7)}  ${shortTime(time)}  ${type.padEnd(16)}  ${change.padEnd(18)}`;
    print(`${place}  ${shown(summary)}${took}`);
    for (const frame of traceOf(entry)) print(`${' '.repeat(TRACE_INDENT)}${frame}`);
  }
  return 0;
}

/** The time of the day: the date stands above. */
const shortTime = (timestamp: string): string => timestamp.slice(11, 23);

/** The first half of an id tells the moment it was made, to the millisecond. */
const shortIds = (text: string): string =>
  text.replace(/\b([0-9a-f]{8}-[0-9a-f]{4})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '$1…');

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
