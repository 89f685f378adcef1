/** Formats log entries as text: a failed run is a block, any other entry is one line followed by its error's stack. */
import { foreignFrames, placeText, userPlaceOf, type CodePosition } from '../kernel/stack.ts';
import { shortId } from '../kernel/ids.ts';
import { RUN_ENDED, type RunException } from './entry.ts';
import { readTextFile } from '../kernel/text-file.ts';

/** Source lines shown before and after the failing one. */
const CONTEXT_LINES = 2;
/** Stack frames shown when none lies in the project's own files. */
const MAX_FRAMES = 3;

export interface TextOptions {
  /** Shows the source lines around a failure, and one short line for a run that did not fail. */
  readonly isDevelopment: boolean;
}

type Members = Readonly<Record<string, unknown>>;

/** Members that only programs need. */
const OMITTED: ReadonlySet<string> = new Set(['assistant_id', 'run_wait_time_ms', 'waits']);

/** Formats `message key=value key=value`, without empty members. */
export function toText(message: string, members: Members, { isDevelopment }: TextOptions): string {
  const { exception, err, at, ...others } = members;
  if (exception !== undefined) return failedRun(message, others, exception as RunException, isDevelopment);
  if (isDevelopment && message === RUN_ENDED) return endedRun(others);
  const pairs = Object.entries(others).flatMap(([key, value]) =>
    isEmpty(value) || OMITTED.has(key) ? [] : [`${key}=${plain(value)}`],
  );
  const below =
    err === undefined ? [] : fault(err as Fault, isDevelopment, String(others['context']).startsWith('auth'));
  return [[message, ...pairs].join(' '), ...below].join('\n');
}

interface Fault {
  readonly type?: string;
  readonly message?: string;
  readonly stack?: string;
}

/** The stack; for a fault of the project's code only its place. */
function fault(
  { type, message = '', stack = '' }: Fault,
  codeFrames: boolean,
  isOfProject: boolean,
): string[] {
  const place = userPlaceOf(stack);
  if (place === undefined && !isOfProject) return [stack === '' ? message : stack];
  return [
    `    ${type ?? 'Error'}: ${indented(message)}`,
    ...(place === undefined ? [] : placed(place, codeFrames)),
  ];
}

const placed = (place: CodePosition, codeFrames: boolean): string[] => [
  `    at ${placeText(place)}`,
  ...(codeFrames ? codeFrame(place) : []),
];

/** `✓ agent 01a214b2-038e  3 checkpoints, 1.2 s`: mark of the outcome, graph and short id of the run. */
function endedRun({ graph_id, run_id, checkpoints, run_exec_ms, outcome, waits, reason }: Members): string {
  const parts = [
    outcome !== 'success' && String(outcome),
    typeof checkpoints === 'number' && `${checkpoints} ${checkpoints === 1 ? 'checkpoint' : 'checkpoints'}`,
    typeof run_exec_ms === 'number' && seconds(run_exec_ms),
    waits === true && 'waits for an answer',
  ].filter((part) => part !== false);
  const mark = outcome !== 'success' ? '-' : waits === true ? '?' : '✓';
  const why = reason === undefined ? '' : `: ${String(reason)}`;
  return `${mark} ${String(graph_id)} ${shortId(String(run_id))}  ${parts.join(', ')}${why}`;
}

const seconds = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);

function failedRun(
  message: string,
  members: Members,
  { type, message: reason, stack = '' }: RunException,
  codeFrames: boolean,
): string {
  const { thread_id, run_id, run_attempt, graph_id, node, step, user, run_exec_ms } = members;
  const place = userPlaceOf(stack);
  const where = [
    node !== undefined && `node "${String(node)}"`,
    step !== undefined && `step ${String(step)}`,
    `attempt ${String(run_attempt)}`,
    run_exec_ms !== undefined && `after ${String(run_exec_ms)} ms`,
  ].filter((part) => part !== false);
  return [
    `${message}: graph "${String(graph_id)}", ${where.join(', ')}`,
    `    thread ${String(thread_id)}`,
    `    run    ${String(run_id)}${user === undefined ? '' : `, user ${plain(user)}`}`,
    `    ${type}: ${indented(reason)}`,
    ...(place === undefined
      ? foreignFrames(stack, MAX_FRAMES).map((frame) => `    ${frame}`)
      : placed(place, codeFrames)),
  ].join('\n');
}

/** Returns the lines around the position with a caret below its column; none when the file cannot be read. */
export function codeFrame({ file, line, column }: CodePosition): string[] {
  let lines: string[];
  try {
    lines = readTextFile(file).split('\n');
  } catch {
    return [];
  }
  const first = Math.max(1, line - CONTEXT_LINES);
  const last = Math.min(lines.length, line + CONTEXT_LINES);
  const width = String(last).length;
  const shown: string[] = [];
  for (let at = first; at <= last; at++) {
    const text = lines[at - 1] ?? '';
    shown.push(`    ${at === line ? '>' : ' '} ${String(at).padStart(width)} | ${text}`);
    // Keeps tabs, so that the caret is below its column.
    if (at === line)
      shown.push(`      ${' '.repeat(width)} | ${text.slice(0, column - 1).replace(/[^\t]/g, ' ')}^`);
  }
  return shown;
}

const indented = (text: string): string => text.trim().replaceAll('\n', '\n    ');

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

const plain = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
