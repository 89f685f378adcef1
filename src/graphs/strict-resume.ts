/**
 * Strict resume: a `command.resume` that does not match the interrupts pending at the thread's head is refused before
 * graph code is called. Nothing is written, so the interrupts can still be resumed.
 *
 * X1 The run is already executing, so nothing else writes to the thread between check and run. The check reads stored
 * checkpoints only, so it works for every library version and for plain functions.
 */
import type { ResumeRefusal } from '../thread/events.ts';
import { interruptKeys } from '../kernel/ids.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { toErrorEnd } from './failure.ts';
import { parseBody, parseNotes } from './function/checkpoint-body.ts';
import { notesOf, interruptIdsOf } from './langgraph/resume-notes.ts';
import type { CheckpointReader, GraphHost, LoadedCheckpoint, RunEnd, RunOrder } from './port.ts';
import { isNote } from './state-port.ts';

type Refused = Extract<RunEnd, { kind: 'error' }>;

/** Wraps the host: runs with `strictResume` are checked first. */
export function refuseUnmatched(host: GraphHost): GraphHost {
  return {
    get graphIds() {
      return host.graphIds;
    },
    async run(order, link, signal) {
      const refused = await findRefusal(order, link.checkpoints).catch(toErrorEnd);
      return refused ?? host.run(order, link, signal);
    },
    close: () => host.close(),
  };
}

async function findRefusal(order: RunOrder, checkpoints: CheckpointReader): Promise<Refused | undefined> {
  const { resume, goto, update } = order.command ?? {};
  if (order.strictResume !== true || resume === undefined || order.resume) return undefined;
  const head = await checkpoints.load('');
  if (hasResumed(order.runId, head)) return undefined;
  const waiting = waitingAt(head);
  const { lateAnswer: late } = order;
  const isAnswer = goto === undefined && update === undefined;
  const isChecked = (late?.length ?? 0) === 0 && !isSuperseded(order, head);
  const refusal = isChecked ? refusalOf(resume, isAnswer, waiting) : undefined;
  return refusal ?? (late && refuseLate(late, waiting));
}

/** True for a resume at an earlier checkpoint, which starts a branch. A subgraph's `checkpoint_map` names the root's id. */
function isSuperseded({ config: { configurable } }: RunOrder, head: LoadedCheckpoint | undefined): boolean {
  const { checkpoint_id: id, checkpoint_ns: ns, checkpoint_map: map } = configurable;
  const checkpointId = ((ns ?? '') === '' ? id : undefined) ?? (isObject(map) ? map[''] : undefined) ?? '';
  return checkpointId !== '' && checkpointId !== head?.checkpointId;
}

/** True if an earlier attempt of the run has passed the check and used a resume value. */
function hasResumed(runId: string, head: LoadedCheckpoint | undefined): boolean {
  if (head === undefined) return false;
  return parseBody(head.body) === undefined
    ? notesOf(runId, head.writes).length > 0
    : parseNotes(head).given?.runId === runId;
}

interface Waiting {
  readonly ids: ReadonlySet<string>;
  /** The number of tasks whose interrupts have no ids. */
  readonly nameless: number;
}

/** Pending interrupts. A task with a result is excluded: it was resumed and only waits for its siblings. */
function waitingAt(head: LoadedCheckpoint | undefined): Waiting {
  const writes = head?.writes ?? [];
  const done = new Set(writes.filter(({ channel }) => !isNote(channel)).map(({ taskId }) => taskId));
  const open = [...interruptIdsOf(writes)].filter(([taskId]) => !done.has(taskId)).map(([, ids]) => ids);
  return { ids: new Set(open.flat()), nameless: open.filter((ids) => ids.length === 0).length };
}

/** `isAnswer`: the command is only an answer, so that it makes no sense without an interrupt. */
function refusalOf(resume: Json, isAnswer: boolean, waiting: Waiting): Refused | undefined {
  const count = waiting.ids.size + waiting.nameless;
  const named = interruptKeys(resume);
  if (named === undefined) {
    if (count > 1) return refuse('ambiguous', AMBIGUOUS, [], waiting);
    return count === 0 && isAnswer ? refuseLate([], waiting) : undefined;
  }
  if (named.length === 0) return refuse('empty_map', 'The resume map names no interrupt', [], waiting);
  return named.every((id) => waiting.ids.has(id)) ? undefined : refuseLate(named, waiting);
}

/** Without ids the refused answer is one value. Ids that wait are told only if all do. */
function refuseLate(ids: readonly string[], waiting: Waiting): Refused {
  const unknown = ids.filter((id) => !waiting.ids.has(id));
  const [first, ...more] = [...(unknown.length > 0 ? unknown : ids)].sort();
  if (first === undefined) return refuse('not_pending', NONE_OPEN, [], waiting);
  return refuse('not_pending', `Unknown or already-consumed interrupt: ${first}`, [first, ...more], waiting);
}

const refuse = (
  reason: ResumeRefusal['reason'],
  message: string,
  interruptIds: readonly string[],
  { ids }: Waiting,
): Refused => ({
  ...{ kind: 'error', error: 'UnknownInterruptError', message },
  refusal: { reason, interruptIds, pendingIds: [...ids].sort() },
});

const NONE_OPEN = 'No interrupt is open for this answer: it was answered already, or is being answered';
/** The library's own message. */
const AMBIGUOUS =
  'When there are multiple pending interrupts, you must specify the interrupt id when resuming.';
