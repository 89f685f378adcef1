/** Formats log entries as text: a failed run is a block, any other entry is one line followed by its error's stack. */
import { codeFrame } from '../kernel/code-frame.ts';
import { causesIn, foreignFrames, placeText, userPlaceOf, type CodePosition } from '../kernel/stack.ts';
import { shortId } from '../kernel/ids.ts';
import { RUN_ENDED, RUN_WARNED, type RunException } from './entry.ts';

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
  if (isDevelopment && message === RUN_WARNED) return warnedRun(others, at);
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

/** `! agent 01a214b2-038e  step 2: …`, with the lines around its place. */
function warnedRun({ graph_id, run_id, step, warning }: Members, at: unknown): string {
  const where = step === undefined ? '' : `step ${String(step)}: `;
  const place = userPlaceOf(`    at ${String(at)}`);
  return [
    `! ${String(graph_id)} ${shortId(String(run_id))}  ${where}${indented(String(warning))}`,
    ...(place === undefined ? [] : placed(place, true)),
  ].join('\n');
}

/** `✓ agent 01a214b2-038e  3 steps, 2 calls, 1.2 s`: mark of the outcome, graph and short id of the run. */
function endedRun({ graph_id, run_id, run_exec_ms, outcome, waits, reason, ...counts }: Members): string {
  const parts = [
    outcome !== 'success' && String(outcome),
    typeof counts['steps'] === 'number' && counted(counts['steps'], 'step'),
    typeof counts['model_calls'] === 'number' &&
      counts['model_calls'] > 0 &&
      counted(counts['model_calls'], 'call'),
    typeof run_exec_ms === 'number' && seconds(run_exec_ms),
    waits === true && 'waits for an answer',
  ].filter((part) => part !== false);
  const mark = outcome !== 'success' ? '-' : waits === true ? '?' : '✓';
  const why = reason === undefined ? '' : `: ${String(reason)}`;
  return `${mark} ${String(graph_id)} ${shortId(String(run_id))}  ${parts.join(', ')}${why}`;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const seconds = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);

function failedRun(
  message: string,
  members: Members,
  { type, message: reason, remedy, stack = '' }: RunException,
  codeFrames: boolean,
): string {
  const { thread_id, run_id, run_attempt, graph_id, node, channel, step, user, run_exec_ms } = members;
  const place = userPlaceOf(stack);
  const where = [
    node !== undefined && `node "${String(node)}"`,
    channel !== undefined && `channel "${String(channel)}"`,
    step !== undefined && `step ${String(step)}`,
    `attempt ${String(run_attempt)}`,
    run_exec_ms !== undefined && `after ${String(run_exec_ms)} ms`,
  ].filter((part) => part !== false);
  return [
    `${message}: graph "${String(graph_id)}", ${where.join(', ')}`,
    `    thread ${String(thread_id)}`,
    `    run    ${String(run_id)}${user === undefined ? '' : `, user ${plain(user)}`}`,
    `    ${type}: ${indented(reason)}`,
    ...causesIn(stack).map((cause) => `    caused by ${cause}`),
    ...(remedy === undefined ? [] : [`    ${remedy}`]),
    ...(place === undefined
      ? foreignFrames(stack, MAX_FRAMES).map((frame) => `    ${frame}`)
      : placed(place, codeFrames)),
  ].join('\n');
}

const indented = (text: string): string => text.trim().replaceAll('\n', '\n    ');

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

const plain = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
