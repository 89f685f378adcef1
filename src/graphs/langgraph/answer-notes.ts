/**
 * Which questions a run has answered. The runtime remembers the answers of a task but not the run that brought them, so
 * a run that is repeated after a crash could answer the next question with the words meant for the one before.
 *
 * Question ids are never computed: since langgraph 1.7 each question of a task has an id of its own, before that all
 * questions of a task share one.
 */
import { createDecoder, encode } from '../codec.ts';
import type { LoadedCheckpoint, PendingWrite } from '../port.ts';
import { ANSWERED_BY, INTERRUPT, RESUME } from '../state-port.ts';

/** The task that stands for the run's own input. */
export const NULL_TASK = '00000000-0000-0000-0000-000000000000';
const ANSWERED_INDEX = -5;
/** The runtime keeps answers by question, before a task uses them, as writes of a task that is named like the question. */
const QUESTION = /^[0-9a-f]{32}$/;

/** Whether these writes of a task tell that it used an answer. */
export const usesAnswer = (taskId: string, writes: readonly (readonly [string, unknown])[]): boolean =>
  taskId !== NULL_TASK && !QUESTION.test(taskId) && writes.some(([channel]) => channel === RESUME);

/** A task's saved record of the answers that it used. */
interface Note {
  readonly runId: string;
  /** Of the questions that were answered, as far as they waited before. */
  readonly questions: readonly string[];
}

export interface AnswerNotes {
  /** A checkpoint was read: its tasks work on what they asked there. */
  read(checkpoint: LoadedCheckpoint): void;
  /**
   * What to save in one batch with the answers that a task of the namespace used; `at` is where to save it: the task
   * itself, or the task of the root graph that it works for.
   */
  answered(ns: string, taskId: string, at?: { readonly taskId: string }): PendingWrite;
}

export function openAnswerNotes(runId: string): AnswerNotes {
  const asked = new Map<string, readonly string[]>();
  const used = new Map<string, Set<string>>();
  const usedBy = (key: string): Set<string> => {
    const known = used.get(key) ?? new Set<string>();
    used.set(key, known);
    return known;
  };
  return {
    read({ ns, writes }) {
      for (const [taskId, questions] of questionsOf(writes)) asked.set(keyOf(ns, taskId), questions);
      for (const { taskId, questions } of notesOf(runId, writes))
        for (const id of questions) usedBy(keyOf(ns, taskId)).add(id);
    },
    answered(ns, taskId, at) {
      const all = usedBy(at === undefined ? keyOf(ns, taskId) : keyOf('', at.taskId));
      for (const id of asked.get(keyOf(ns, taskId)) ?? []) all.add(id);
      return {
        taskId: at?.taskId ?? taskId,
        ...{ channel: ANSWERED_BY, idx: ANSWERED_INDEX },
        data: encode({ runId, questions: [...all] } satisfies Note),
      };
    },
  };
}

const keyOf = (ns: string, taskId: string): string => `${taskId} ${ns}`;

/** Langgraph 0.3 calls the id otherwise, and 0.2 gives none. */
interface Question {
  readonly id?: string;
  readonly interrupt_id?: string;
}

/** By task: the ids of the questions that wait. Until langgraph 1.7 a write has one bare question, then a list. */
export function questionsOf(writes: readonly PendingWrite[]): ReadonlyMap<string, readonly string[]> {
  const decode = createDecoder();
  const found = new Map<string, readonly string[]>();
  for (const { taskId, channel, data } of writes) {
    if (channel !== INTERRUPT) continue;
    const questions = [decode(data)].flat() as (Question | null)[];
    const ids = questions.flatMap((question) => question?.id ?? question?.interrupt_id ?? []);
    found.set(taskId, [...(found.get(taskId) ?? []), ...ids]);
  }
  return found;
}

/** By task: what the run has answered. */
export function notesOf(
  runId: string,
  writes: readonly PendingWrite[],
): { readonly taskId: string; readonly questions: readonly string[] }[] {
  const decode = createDecoder();
  return writes.flatMap(({ taskId, channel, data }) => {
    if (channel !== ANSWERED_BY) return [];
    const note = decode(data) as Note;
    return note.runId === runId ? [{ taskId, questions: note.questions }] : [];
  });
}

/**
 * The task of the root graph that works in a namespace, such as `agent:<task>|tools:<task>`: its question is that of the
 * subgraph. A subgraph that keeps its state from run to run does not say in whose task it is.
 */
export const rootTaskOf = (ns: string): string => ns.split('|', 1)[0]?.split(':')[1] ?? NULL_TASK;

/** An answer without an address belongs to the run that brought it; a later run must not find it. */
export const isForRuntime = ({ taskId, channel }: PendingWrite): boolean =>
  channel !== ANSWERED_BY && !(channel === RESUME && taskId === NULL_TASK);
