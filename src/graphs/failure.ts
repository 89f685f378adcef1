import { stackOf } from '../kernel/stack.ts';
import type { FailureOrigin, RunEnd } from './port.ts';
import type { Updated } from './state-port.ts';

/** What is told of a failure has to be written, sent and read: the rest of a longer message is left out. */
const MAX_CHARACTERS = 16_384;
const MAX_OF_NAME = 256;

export function shorten(text: string, most = MAX_CHARACTERS): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}

/** What the runtime notes of a task that failed, `{message, name}`; anything else is returned as it is. */
export function shortenNote(note: unknown): unknown {
  if (typeof note !== 'object' || note === null) return note;
  const cut = { ...note } as { message?: unknown; name?: unknown };
  if (typeof cut.message === 'string') cut.message = shorten(cut.message);
  if (typeof cut.name === 'string') cut.name = shorten(cut.name, MAX_OF_NAME);
  return cut;
}

/** Adds to what graph code threw where in the graph that was. */
export class LocatedFailure {
  readonly thrown: unknown;
  readonly place: Pick<FailureOrigin, 'node' | 'step'>;
  constructor(thrown: unknown, place: Pick<FailureOrigin, 'node' | 'step'>) {
    this.thrown = thrown;
    this.place = place;
  }
}

/** The end of a run that failed with `failure`, which may be anything that can be thrown. */
export function toErrorEnd(failure: unknown): Extract<RunEnd, { kind: 'error' }> {
  const { thrown, place } = failure instanceof LocatedFailure ? failure : { thrown: failure, place: {} };
  const stack = stackOf(thrown);
  const origin: FailureOrigin = { ...place, ...(stack !== undefined && { stack }) };
  return { ...toNamed(thrown), ...(Object.keys(origin).length > 0 && { origin }) };
}

function toNamed(thrown: unknown): Extract<RunEnd, { kind: 'error' }> {
  if (!(thrown instanceof Error) && !isErrorLike(thrown))
    return { kind: 'error', error: 'Error', message: shorten(describe(thrown)) };
  const given = toName(thrown.name) ?? 'Error';
  // A subclass that never set `name` still says `Error`; its class name tells more.
  const error = given === 'Error' ? (toName(thrown.constructor?.name) ?? given) : given;
  return {
    kind: 'error',
    error: shorten(error, MAX_OF_NAME),
    message: shorten(String(thrown.message)),
  };
}

/** The same as a line. */
export function toWords(thrown: unknown): string {
  const { error, message } = toNamed(thrown);
  return `${error}: ${message}`;
}

/** What the sender of an update of the state hears when the graph throws. */
export const toRefusal = (thrown: unknown): Updated => ({ kind: 'refused', message: toWords(thrown) });

/** Classes may have a `name` of any kind. */
const toName = (name: unknown): string | undefined =>
  typeof name === 'string' && name !== '' ? name : undefined;

const isErrorLike = (thrown: unknown): thrown is Error =>
  typeof thrown === 'object' && thrown !== null && typeof (thrown as Error).message === 'string';

function describe(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  try {
    // LangGraph notes the task on whatever is thrown.
    return JSON.stringify(thrown, (key, value: unknown) => (key === 'pregelTaskId' ? undefined : value));
  } catch {
    return Object.prototype.toString.call(thrown);
  }
}
