/**
 * Records which interrupts a run has resumed. The runtime stores a task's resume values without
 * the run. A run repeated after a crash could thus resume the next interrupt with the value for the previous one.
 *
 * Interrupt ids are read and never computed: from langgraph 1.7 each interrupt of a task has its own id, before that all
 * interrupts of a task share one.
 */
import { createDecoder, encode } from '../codec.ts';
import type { LoadedCheckpoint, PendingWrite } from '../port.ts';
import { RESUMED_BY, INTERRUPT, RESUME } from '../state-port.ts';

/** The runtime's pseudo task for writes of the run's own input. */
const NULL_TASK = '00000000-0000-0000-0000-000000000000';
const RESUMED_INDEX = -5;
/** The runtime stores an unused resume value as the write of a pseudo task whose id is the interrupt id. */
const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** True if these writes show that the task used a resume value. */
export const usesResumeValue = (taskId: string, writes: readonly (readonly [string, unknown])[]): boolean =>
  taskId !== NULL_TASK && !INTERRUPT_ID.test(taskId) && writes.some(([channel]) => channel === RESUME);

/** The stored record of the resume values that a task used. */
interface Note {
  readonly runId: string;
  /** Ids of the resumed interrupts that were pending before the run. */
  readonly questions: readonly string[];
}

export interface ResumeNotes {
  /** Call for every loaded checkpoint: remembers its tasks' pending interrupts and earlier notes of this run. */
  read(checkpoint: LoadedCheckpoint): void;
  /**
   * The write to save in one batch with the resume values that a task used. `at` is the task to save it under, if not the
   * task itself: the root graph's task that it belongs to.
   */
  resumed(ns: string, taskId: string, at?: { readonly taskId: string }): PendingWrite;
}

export function openResumeNotes(runId: string): ResumeNotes {
  const pending = new Map<string, readonly string[]>();
  const used = new Map<string, Set<string>>();
  const usedBy = (key: string): Set<string> => {
    const known = used.get(key) ?? new Set<string>();
    used.set(key, known);
    return known;
  };
  return {
    read({ ns, writes }) {
      for (const [taskId, ids] of interruptIdsOf(writes)) pending.set(keyOf(ns, taskId), ids);
      for (const { taskId, ids } of notesOf(runId, writes))
        for (const id of ids) usedBy(keyOf(ns, taskId)).add(id);
    },
    resumed(ns, taskId, at) {
      const all = usedBy(at === undefined ? keyOf(ns, taskId) : keyOf('', at.taskId));
      for (const id of pending.get(keyOf(ns, taskId)) ?? []) all.add(id);
      return {
        taskId: at?.taskId ?? taskId,
        ...{ channel: RESUMED_BY, idx: RESUMED_INDEX },
        data: encode({ runId, questions: [...all] } satisfies Note),
      };
    },
  };
}

const keyOf = (ns: string, taskId: string): string => `${taskId} ${ns}`;

/** The id is named `interrupt_id` in langgraph 0.3 and missing in 0.2. */
interface StoredInterrupt {
  readonly id?: string;
  readonly interrupt_id?: string;
}

/** Interrupt ids by task. A write has one interrupt before langgraph 1.7 and a list from 1.7 on. */
export function interruptIdsOf(writes: readonly PendingWrite[]): ReadonlyMap<string, readonly string[]> {
  const decode = createDecoder();
  const found = new Map<string, readonly string[]>();
  for (const { taskId, channel, data } of writes) {
    if (channel !== INTERRUPT) continue;
    const interrupts = [decode(data)].flat() as (StoredInterrupt | null)[];
    const ids = interrupts.flatMap((interrupt) => interrupt?.id ?? interrupt?.interrupt_id ?? []);
    found.set(taskId, [...(found.get(taskId) ?? []), ...ids]);
  }
  return found;
}

/** Ids of the interrupts that the run has resumed, by task. */
export function notesOf(
  runId: string,
  writes: readonly PendingWrite[],
): { readonly taskId: string; readonly ids: readonly string[] }[] {
  const decode = createDecoder();
  return writes.flatMap(({ taskId, channel, data }) => {
    if (channel !== RESUMED_BY) return [];
    const note = decode(data) as Note;
    return note.runId === runId ? [{ taskId, ids: note.questions }] : [];
  });
}

/**
 * The root graph's task of a namespace such as `agent:<task>|tools:<task>`; interrupts of a subgraph belong to it. The
 * namespace of a subgraph with persistent state has no task id, which gives `NULL_TASK`.
 */
export const rootTaskOf = (ns: string): string => ns.split('|', 1)[0]?.split(':')[1] ?? NULL_TASK;

/** False for writes that the runtime must not see: notes, and resume values without an interrupt id from earlier runs. */
export const isForRuntime = ({ taskId, channel }: PendingWrite): boolean =>
  channel !== RESUMED_BY && !(channel === RESUME && taskId === NULL_TASK);
