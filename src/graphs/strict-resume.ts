/**
 * Strict resume: a `command.resume` that does not match the interrupts pending at the thread's head is refused before
 * graph code is called. Nothing is written, so the interrupts can still be resumed.
 *
 * X1 The run is already executing, so nothing else writes to the thread between check and run. The check reads stored
 * checkpoints only, so it works for every library version and for plain functions.
 */
import { interruptKeys } from '../kernel/ids.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { toErrorEnd } from './failure.ts';
import { parseBody, parseNotes } from './function/checkpoint-body.ts';
import { notesOf, interruptIdsOf } from './langgraph/resume-notes.ts';
import type {
  CheckpointReader,
  GraphHost,
  LoadedCheckpoint,
  ResumeRefusal,
  RunEnd,
  RunOrder,
} from './port.ts';
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
  const resume = order.command?.resume ?? null;
  if (order.strictResume !== true || resume === null || order.resume) return undefined;
  const head = await checkpoints.load('');
  if (isSuperseded(order, head) || hasResumed(order.runId, head)) return undefined;
  return refusalOf(resume, waitingAt(head));
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

function refusalOf(resume: Json, { ids, nameless }: Waiting): Refused | undefined {
  const pendingIds = [...ids].sort();
  const refuse = (
    reason: ResumeRefusal['reason'],
    message: string,
    interruptIds: string[] = [],
  ): Refused => ({
    ...{ kind: 'error', error: 'UnknownInterruptError', message },
    refusal: { reason, interruptIds, pendingIds },
  });
  const named = interruptKeys(resume);
  if (named === undefined) return ids.size + nameless > 1 ? refuse('ambiguous', AMBIGUOUS) : undefined;
  if (named.length === 0) return refuse('empty_map', 'The resume map names no interrupt');
  const unknown = named.filter((id) => !ids.has(id)).sort();
  if (unknown.length === 0) return undefined;
  return refuse('not_pending', `Unknown or already-consumed interrupt: ${unknown[0]}`, unknown);
}

/** The library's own message. */
const AMBIGUOUS =
  'When there are multiple pending interrupts, you must specify the interrupt id when resuming.';
