/**
 * Reads a whole file before anything of it is written, and checks what a log relies on: the thread's machine allows its
 * events in their order, and every payload that an event speaks of is there. Holds ids only, never contents.
 */
import { scanJson, type ScanLimits } from '../kernel/json-scan.ts';
import { startTurn } from '../kernel/turn.ts';
import { readData, knownType } from '../store/port/events.ts';
import { threadStream, type CheckpointKey, type ThreadEvent } from '../thread/events.ts';
import { startMachine } from '../thread/machine.ts';
import { evolve, initial, isLiving, type LivingThread, type ThreadState } from '../thread/state.ts';
import { toThreadEvent } from './event-schema.ts';
import { kindOf } from './kinds.ts';
import { EVENT_LIMITS, STOPPED_HISTORY, TEXT_LIMITS, type HistoryLimits } from './limits.ts';
import type { ExportedFile, ReadRecord } from './read.ts';
import type { Header } from './records.ts';
import type { ExportRefused } from './refusal.ts';

export interface Inspected {
  readonly header: Header;
  readonly threadId: string;
  readonly runIds: ReadonlySet<string>;
  /** Size of all unpacked records. */
  readonly bytes: number;
  /** State after the last event. */
  readonly state: LivingThread;
}

/** An event of the file, in its newest shape. */
export interface PastEvent {
  readonly event: ThreadEvent;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export async function inspect(
  file: ExportedFile,
  limits: HistoryLimits = STOPPED_HISTORY,
  onBytes?: (bytes: number) => void,
): Promise<Inspected> {
  let bytes = 0;
  const count = (done: number): void => {
    bytes = done;
    onBytes?.(done);
  };
  let header: Header | undefined;
  const hold = openIds(file.refusal);
  const payloads = checkPayloads(file.refusal, hold);
  const history = checkHistory(file.refusal, hold, limits);
  const turn = startTurn();
  async function assertJson(text: string, limits: ScanLimits, what: string): Promise<void> {
    for (const scan = scanJson(text, limits); ; await turn()) {
      const { done, value: fault } = scan.next();
      if (done !== true) continue;
      if (fault !== undefined) throw file.refusal(`the text of ${what} is ${fault.reason}`);
      return;
    }
  }
  for await (const record of file.records(count)) {
    if (record.kind === 'header') header = record.head;
    else if (record.kind === 'payload') {
      payloads.take(record, header!.thread.id);
      const { of, content } = record;
      if (typeof content === 'string') await assertJson(content, TEXT_LIMITS, `a ${of}`);
    } else {
      await assertJson(record.text, EVENT_LIMITS, `event ${record.head.version}`);
      const past = readEvent(record, header!.thread.id, file.refusal);
      history.take(past.event, record.head.version, record.text.length);
    }
  }
  if (header === undefined) throw file.refusal('it has no events');
  const { state, runIds, needed } = history.end();
  payloads.end(runIds, needed);
  return { header, threadId: header.thread.id, runIds, bytes, state };
}

/** Also turns an event of an earlier version of the program into what this version knows. */
export function readEvent(
  { head, text }: Extract<ReadRecord, { kind: 'event' }>,
  threadId: string,
  refusal: (reason: string) => ExportRefused,
): PastEvent {
  const { stream, type: stored, schema, version, at } = head;
  const where = `event ${version}`;
  if (stream !== threadStream(threadId)) throw refusal(`${where} belongs to ${stream}, not to the thread`);
  const type = knownType(stored);
  if (type === undefined) throw refusal(`${where} has the type ${stored}, which this version does not know`);
  let event: ThreadEvent | string;
  try {
    event = toThreadEvent(type, readData(type, schema, JSON.parse(text)));
  } catch (error) {
    throw refusal(`${where}: ${(error as Error).message}`);
  }
  if (typeof event === 'string') throw refusal(`${where}: ${event}`);
  if (event.data.threadId !== threadId) throw refusal(`${where} is of another thread`);
  return { event, at };
}

/** Longest ids, together, that the check of a file holds; each counts as so much more. */
const MAX_ID_UTF16_UNITS = 64 * 1024 * 1024;
const ID_OVERHEAD = 64;

/** Bounds the memory of the check. Returns a function that counts an id to be held. */
function openIds(refusal: (reason: string) => ExportRefused): (id: string) => string {
  let left = MAX_ID_UTF16_UNITS;
  return (id) => {
    left -= id.length + ID_OVERHEAD;
    if (left < 0) throw refusal('its runs and checkpoints are too many, or have too long names');
    return id;
  };
}

const keyOf = ({ ns, checkpointId }: CheckpointKey): string => JSON.stringify([ns, checkpointId]);

/** Checkpoints that have to be there, each with the run that saved it, or why it has to. */
type Needed = Map<string, string>;
/** A client's update saved it. */
const UPDATED = 'updated';
/** A pruning left it. Deleting a run may take it away later. */
const KEPT = 'kept';
const HEAD = 'head';

function checkHistory(
  refusal: (reason: string) => ExportRefused,
  hold: (id: string) => string,
  { maxEvents, maxUtf16Units, wayOut }: HistoryLimits,
) {
  const machine = startMachine(initial);
  const runIds = new Set<string>();
  const needed: Needed = new Map();
  let state: ThreadState = initial;
  let version = 0;
  let characters = 0;

  function forget(...reasons: readonly string[]): void {
    for (const [key, why] of needed) if (reasons.includes(why)) needed.delete(key);
  }

  /** Notes which payloads the event needs: `verify` expects them in a log with these events. */
  function note(event: ThreadEvent): void {
    switch (event.type) {
      case 'RunCreated':
        return void runIds.add(hold(event.data.runId));
      case 'CheckpointSaved':
        return void needed.set(hold(keyOf(event.data)), event.data.runId);
      case 'StateUpdated':
        for (const saved of event.data.checkpoints) needed.set(hold(keyOf(saved)), UPDATED);
        return;
      case 'ThreadPruned':
        needed.clear();
        for (const key of event.data.kept) needed.set(hold(keyOf(key)), KEPT);
        return;
      case 'RunDeleted':
        return forget(event.data.runId, KEPT);
      case 'RunCompleted':
        if (event.data.outcome.kind === 'rolled-back') forget(event.data.runId);
    }
  }

  return {
    take(event: ThreadEvent, stated: number, length: number): void {
      version += 1;
      characters += length;
      if (version > maxEvents || characters > maxUtf16Units)
        throw refusal(
          `it has more than ${maxEvents} events, or ${maxUtf16Units} characters of them: ${wayOut}`,
        );
      if (stated !== version) throw refusal(`event ${stated} comes where event ${version} was expected`);
      const isFirst = event.type === 'ThreadCreated' || event.type === 'ThreadCopied';
      if (isFirst !== (version === 1) || !machine.can(event))
        throw refusal(`event ${version}: ${event.type} cannot happen in "${state.status}"`);
      if (event.type === 'RunCreated' && runIds.has(event.data.runId))
        throw refusal(`event ${version}: run ${event.data.runId} is there already`);
      machine.send(event);
      state = evolve(state, event);
      note(event);
    },
    end(): { state: LivingThread; runIds: Set<string>; needed: Needed } {
      machine.stop();
      if (version === 0) throw refusal('it has no events');
      if (!isLiving(state)) throw refusal('its thread is deleted');
      if (state.head !== null) needed.set(keyOf({ ns: '', checkpointId: state.head }), HEAD);
      return { state, runIds, needed };
    },
  };
}

function checkPayloads(refusal: (reason: string) => ExportRefused, hold: (id: string) => string) {
  const saved = new Set<string>();
  /** Runs of kinds that are found by the run alone, with the frame that comes next. */
  const frames = new Map<string, number>();

  return {
    take({ of, thread, head, content }: Extract<ReadRecord, { kind: 'payload' }>, threadId: string): void {
      if (thread !== threadId) throw refusal(`a ${of} is of another thread`);
      if (kindOf(of).isOfRun && !frames.has(head.run)) frames.set(hold(head.run), 0);
      if (of === 'checkpoint')
        saved.add(hold(keyOf({ ns: String(head['ns']), checkpointId: String(head['id']) })));
      if (of === 'frame') {
        const next = frames.get(head.run)!;
        if (head['id'] !== next)
          throw refusal(`run ${head.run} has a frame ${String(head['id'])} where ${next} was expected`);
        frames.set(head.run, next + 1);
      }
      if (of === 'frame' && typeof content === 'string' && content.includes('\n'))
        throw refusal('the text of a frame is not on one line');
    },
    end(runIds: ReadonlySet<string>, needed: Needed): void {
      for (const runId of frames.keys())
        if (!runIds.has(runId)) throw refusal(`it has contents of run ${runId}, but not the run`);
      for (const key of needed.keys()) if (!saved.has(key)) throw refusal(`its checkpoint ${key} is missing`);
    },
  };
}
