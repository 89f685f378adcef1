/**
 * Notes what the code of an attempt prints, and its calls of models and tools. S1 Nothing of it is on a stream: it rides in the
 * commits of the run's steps, and in that of the attempt's end. The graph's library reports calls (langgraph/call-handler.ts); a
 * call of a model that it does not report is noted when its answer is seen on the wire.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../kernel/clock.ts';
import type { ContextConfig } from '../recording/library-context.ts';
import { placeOf, type OutgoingRequest } from '../recording/session.ts';
import type { ModelAnswer, TokenUsage } from '../recording/usage.ts';
import type { CallPlace, CallRecord, ModelOrToolRecord, PrintRecord } from '../thread/call-record.ts';
import { shorten } from './failure.ts';
import type { RunLink } from './port.ts';

export interface CallLog {
  /** The library's config of the current task; set when the library is known. */
  configOf: (() => unknown) | undefined;
  print(stream: PrintRecord['stream'], text: string): void;
  /** A call that the library reports, with the config of its task. Returns what to call at its end. */
  began(call: ReportedCall): (end: CallEnd) => void;
  /** Call it for a request in its task; what it returns takes the answer if that is of a model. */
  asked(request: OutgoingRequest, isServed: boolean): (answer: ModelAnswer | undefined) => void;
  /** Sends what is noted. Call it before a checkpoint is sent, with the step of one of the root graph. */
  flush(step?: number): void;
  /** The attempt has ended; nothing more is noted. */
  end(): void;
}

export interface CallLogOptions {
  readonly attempt: number;
  /** UTF-16 units that earlier attempts have noted. */
  readonly noted: number;
  readonly clock: Clock;
  /** JSON text of a list of `CallRecord`. */
  readonly send: (records: string) => void;
}

const MAX_TEXT_UTF16_UNITS = 4_096;
const MAX_NAME_UTF16_UNITS = 256;
/** A run that prints without end leaves half of it to calls. */
const MAX_RUN_UTF16_UNITS = 1_048_576;
const MAX_PRINTS_UTF16_UNITS = MAX_RUN_UTF16_UNITS / 2;
/** Size that a record counts without its texts. */
const RECORD_UTF16_UNITS = 256;
/** A worker that is killed takes what it has not sent with it. */
const SEND_AFTER_MS = 50;
const MAX_UNSENT_UTF16_UNITS = 65_536;

interface ReportedCall {
  readonly kind: ModelOrToolRecord['kind'];
  readonly name: string;
  readonly model?: string | undefined;
  readonly config: ContextConfig;
}

export interface CallEnd {
  /** Replaces the name of the start. */
  readonly name?: string | undefined;
  readonly usage?: TokenUsage | undefined;
  readonly error?: string | undefined;
}

interface OpenCall extends Omit<ReportedCall, 'config'> {
  readonly place: CallPlace;
  readonly at: number;
  /** Monotonic milliseconds. */
  readonly since: number;
  /** The answer that was seen on the wire. */
  answer?: ModelAnswer;
  isServed?: boolean;
}

export function openCallLog({ attempt, noted, clock, send }: CallLogOptions): CallLog {
  let unsent: CallRecord[] = [];
  let unsentSize = 0;
  let size = noted;
  const left = { prints: 0, calls: 0 };
  let cancel: (() => void) | undefined;
  let isOver = false;
  /** The step that a plain function works at, since it saved the one before. */
  let step: number | undefined;
  /** Calls that the library has reported as begun. */
  const open = new Set<OpenCall>();
  /** The last record, while its line goes on. */
  let line: { -readonly [K in keyof PrintRecord]: PrintRecord[K] } | undefined;

  const here = (): CallPlace => placeIn(log.configOf?.() as ContextConfig | undefined, step);
  const since = (place: CallPlace) => ({ place, at: clock.now(), since: clock.monotonic() });

  function add(record: CallRecord): void {
    grow(RECORD_UTF16_UNITS);
    unsent.push(record);
    cancel ??= clock.after(SEND_AFTER_MS, log.flush);
  }

  function grow(length: number): void {
    size += length;
    unsentSize += length;
  }

  function addCall({ kind, place, name, at, since, model, answer, isServed }: OpenCall, end: CallEnd): void {
    if (isOver) return;
    if (size >= MAX_RUN_UTF16_UNITS) return void (left.calls += 1);
    const usage = end.usage ?? answer?.tokens;
    const named = model ?? answer?.model;
    add({
      ...{ kind, attempt, at, ...place, name: shorten(end.name ?? name, MAX_NAME_UTF16_UNITS) },
      ...(named !== undefined && { model: shorten(named, MAX_NAME_UTF16_UNITS) }),
      ms: Math.round(clock.monotonic() - since),
      ...(usage && { usage }),
      ...(end.error !== undefined && { error: shorten(end.error, MAX_TEXT_UTF16_UNITS) }),
      ...(isServed && { served: true as const }),
    });
    grow(Math.min(end.error?.length ?? 0, MAX_TEXT_UTF16_UNITS));
    flushFull();
  }

  function flushFull(): void {
    if (unsentSize >= MAX_UNSENT_UTF16_UNITS) log.flush();
  }

  const log: CallLog = {
    configOf: undefined,
    print(stream, text) {
      if (isOver || text === '') return;
      const place = here();
      if (line?.stream !== stream || line.ns !== place.ns) {
        if (size >= MAX_PRINTS_UTF16_UNITS) return void (left.prints += 1);
        line = { kind: 'print', attempt, at: clock.now(), ...place, stream, text: '' };
        add(line);
      }
      const room = MAX_TEXT_UTF16_UNITS - line.text.length;
      const shown = text.slice(0, room);
      line.text += shown;
      if (text.length > room) line.cut = (line.cut ?? 0) + text.length - room;
      grow(shown.length);
      if (text.endsWith('\n')) line = undefined;
      flushFull();
    },
    began({ config, ...given }) {
      const call = { ...given, ...since(placeIn(config, step)) };
      open.add(call);
      return (end) => {
        if (open.delete(call)) addCall(call, end);
      };
    },
    asked({ url }, isServed) {
      const unreported: OpenCall = { kind: 'model', name: addressOf(url), ...since(here()) };
      return (answer) => {
        const own = [...open].filter(({ place }) => place.ns === unreported.place.ns);
        const call =
          answer === undefined
            ? own.find(({ kind }) => kind === 'tool')
            : (own.find((each) => each.kind === 'model' && each.answer === undefined) ?? unreported);
        if (call === undefined) return;
        if (isServed) call.isServed = true;
        if (answer === undefined) return;
        call.answer = answer;
        if (call === unreported) addCall(call, {});
      };
    },
    flush(saved) {
      if (saved !== undefined) step = saved + 1;
      cancel?.();
      cancel = undefined;
      line = undefined;
      if (unsent.length === 0) return;
      send(JSON.stringify(unsent.map(withoutLineEnd)));
      unsent = [];
      unsentSize = 0;
    },
    end() {
      if (left.prints + left.calls > 0) add({ kind: 'cut', attempt, at: clock.now(), ns: '', ...left });
      log.flush();
      isOver = true;
    },
  };
  return log;
}

/** `step`: of a run that is one task. */
function placeIn(config: ContextConfig | undefined, step: number | undefined): CallPlace {
  const place = placeOf(config);
  if (place === undefined) return { ns: '' };
  const own = place.ns === '' ? step : config?.metadata?.['langgraph_step'];
  return { ns: place.ns, node: place.node, ...(typeof own === 'number' && { step: own }) };
}

/** Host and path; the rest of an address may hold keys. */
function addressOf(url: string): string {
  const { host, pathname } = new URL(url);
  return host + pathname;
}

const withoutLineEnd = (record: CallRecord): CallRecord =>
  record.kind === 'print' && record.text.endsWith('\n')
    ? { ...record, text: record.text.slice(0, -1) }
    : record;

/** Tasks whose writes are saved are not repeated, so what they noted is sent before. */
export const flushBeforeSaves = (link: RunLink, calls: CallLog): RunLink => ({
  ...link,
  checkpoints: {
    load: (...of) => link.checkpoints.load(...of),
    list: (query) => link.checkpoints.list(query),
    save(checkpoint) {
      calls.flush(checkpoint.ns === '' ? checkpoint.step : undefined);
      return link.checkpoints.save(checkpoint);
    },
    saveWrites(...of) {
      calls.flush();
      return link.checkpoints.saveWrites(...of);
    },
  },
});

const logs = new AsyncLocalStorage<CallLog>();

/** Notes what `work` does, and everything asynchronous that it starts. */
export const insideCallLog = <T>(log: CallLog, work: () => T): T => logs.run(log, work);

export const currentCallLog = (): CallLog | undefined => logs.getStore();

const observed = new WeakSet<object>();

/** Notes what the code of runs writes to the output of this process. */
export function observePrints(): void {
  for (const name of ['stdout', 'stderr'] as const) {
    const stream: { write(chunk: unknown, ...rest: unknown[]): boolean } = process[name];
    if (observed.has(stream)) continue;
    observed.add(stream);
    const { write } = stream;
    stream.write = function (chunk, ...rest) {
      logs
        .getStore()
        ?.print(name, chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : String(chunk));
      return write.call(this, chunk, ...rest);
    };
  }
}
