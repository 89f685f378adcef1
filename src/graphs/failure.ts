/** Failures of graph code as run ends, with bounded messages. */
import { stackOf } from '../kernel/stack.ts';
import type { Origin } from '../thread/origin.ts';
import type { RunEnd } from './port.ts';
import { BUDGET_REACHED } from '../thread/usage.ts';
import { remedyOf } from './remedy.ts';
import type { Updated } from './state-port.ts';

const MAX_MESSAGE_UTF16_UNITS = 16_384;
const MAX_NAME_UTF16_UNITS = 256;

export function shorten(text: string, max = MAX_MESSAGE_UTF16_UNITS): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length} characters)`;
}

/** Shortens the runtime's error write `{message, name}` of a failed task; other values are returned unchanged. */
export function shortenNote(note: unknown): unknown {
  if (typeof note !== 'object' || note === null) return note;
  const cut = { ...note } as { message?: unknown; name?: unknown };
  if (typeof cut.message === 'string') cut.message = shorten(cut.message);
  if (typeof cut.name === 'string') cut.name = shorten(cut.name, MAX_NAME_UTF16_UNITS);
  return cut;
}

/** Wraps a value thrown by graph code together with the node and step that threw it. A given stack replaces its own. */
export class LocatedFailure {
  readonly thrown: unknown;
  readonly place: Origin;
  constructor(thrown: unknown, place: Origin) {
    this.thrown = thrown;
    this.place = place;
  }
}

/** The run reached a limit of its budget. */
export class BudgetReached extends Error {
  override readonly name = BUDGET_REACHED;
}

/** The error end of a run. `failure` may be any thrown value or a `LocatedFailure`. */
export function toErrorEnd(failure: unknown): Extract<RunEnd, { kind: 'error' }> {
  const { thrown, place } = failure instanceof LocatedFailure ? failure : { thrown: failure, place: {} };
  const stack = stackOf(thrown);
  const named = toNamed(thrown);
  const known = place.stack ?? stack;
  const remedy = place.remedy ?? remedyOf(named.message, known);
  const origin: Origin = {
    ...place,
    ...(known !== undefined && { stack: known }),
    ...(remedy && { remedy }),
  };
  return { ...named, ...(Object.keys(origin).length > 0 && { origin }) };
}

function toNamed(thrown: unknown): Extract<RunEnd, { kind: 'error' }> {
  if (!(thrown instanceof Error) && !isErrorLike(thrown))
    return { kind: 'error', error: 'Error', message: shorten(describe(thrown)) };
  const given = toName(thrown.name) ?? 'Error';
  // A subclass that does not set `name` has the name `Error`, so its class name is used.
  const error = given === 'Error' ? (toName(thrown.constructor?.name) ?? given) : given;
  return {
    kind: 'error',
    error: shorten(error, MAX_NAME_UTF16_UNITS),
    message: shorten(String(thrown.message)),
  };
}

/** The error of a run whose code ends its process; its stack begins where `exit` was called. */
export function exitError(code: number | string | null | undefined, exit: typeof process.exit): Error {
  const error = new Error(`The graph called process.exit(${code ?? ''})`);
  error.name = 'ProcessExit';
  Error.captureStackTrace(error, exit);
  return error;
}

/** Formats a thrown value as `<name>: <message>`. */
export function toWords(thrown: unknown): string {
  const { error, message } = toNamed(thrown);
  return `${error}: ${message}`;
}

/** The result of a state update whose graph code throws. */
export const toRefusal = (thrown: unknown): Updated => ({ kind: 'refused', message: toWords(thrown) });

/** User classes may define a static `name` that is not a string. */
const toName = (name: unknown): string | undefined =>
  typeof name === 'string' && name !== '' ? name : undefined;

const isErrorLike = (thrown: unknown): thrown is Error =>
  typeof thrown === 'object' && thrown !== null && typeof (thrown as Error).message === 'string';

function describe(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  try {
    // LangGraph adds `pregelTaskId` to every thrown object.
    return JSON.stringify(thrown, (key, value: unknown) => (key === 'pregelTaskId' ? undefined : value));
  } catch {
    return Object.prototype.toString.call(thrown);
  }
}
