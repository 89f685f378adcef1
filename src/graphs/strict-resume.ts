/**
 * Strict answers. An answer that does not fit the questions that wait at the head of its thread is refused before graph
 * code is called, so nothing is written and the questions can still be answered.
 *
 * X1 Nothing else writes to the thread between the check and the run: its run executes already. The check reads what
 * was saved, so it is one for graphs of every library line and for plain functions.
 */
import { questionIds } from '../kernel/ids.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { toErrorEnd } from './failure.ts';
import { parseBody, parseNotes } from './function/checkpoint-body.ts';
import { notesOf, questionsOf } from './langgraph/answer-notes.ts';
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

/** The same graphs, with the check before each run that asks for it. */
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
  if (isSuperseded(order, head) || hasAnswered(order.runId, head)) return undefined;
  return refusalOf(resume, waitingAt(head));
}

/** An answer at an earlier checkpoint begins a branch there. A place within a subgraph says where its root is. */
function isSuperseded({ config: { configurable } }: RunOrder, head: LoadedCheckpoint | undefined): boolean {
  const { checkpoint_id: id, checkpoint_ns: ns, checkpoint_map: map } = configurable;
  const place = ((ns ?? '') === '' ? id : undefined) ?? (isObject(map) ? map[''] : undefined) ?? '';
  return place !== '' && place !== head?.checkpointId;
}

/** An earlier attempt of the run has passed the check, and used an answer. */
function hasAnswered(runId: string, head: LoadedCheckpoint | undefined): boolean {
  if (head === undefined) return false;
  return parseBody(head.body) === undefined
    ? notesOf(runId, head.writes).length > 0
    : parseNotes(head).given?.runId === runId;
}

interface Waiting {
  readonly ids: ReadonlySet<string>;
  /** Tasks whose questions have no ids. */
  readonly nameless: number;
}

/** A task with a result only waits for its siblings: its question was answered. */
function waitingAt(head: LoadedCheckpoint | undefined): Waiting {
  const writes = head?.writes ?? [];
  const done = new Set(writes.filter(({ channel }) => !isNote(channel)).map(({ taskId }) => taskId));
  const open = [...questionsOf(writes)].filter(([taskId]) => !done.has(taskId)).map(([, ids]) => ids);
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
  const named = questionIds(resume);
  if (named === undefined) return ids.size + nameless > 1 ? refuse('ambiguous', AMBIGUOUS) : undefined;
  if (named.length === 0) return refuse('empty_map', 'The resume map names no interrupt');
  const unknown = named.filter((id) => !ids.has(id)).sort();
  if (unknown.length === 0) return undefined;
  return refuse('not_pending', `Unknown or already-consumed interrupt: ${unknown[0]}`, unknown);
}

/** In the words of the library. */
const AMBIGUOUS =
  'When there are multiple pending interrupts, you must specify the interrupt id when resuming.';
