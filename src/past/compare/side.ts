/** Collects the ids in the columns of an execution's records. */
import { UUIDS } from '../../kernel/embedded-ids.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { parseStored, type RunTrace } from '../trace.ts';
import type { Side } from './values.ts';

/** Channel of a task's interrupts in every line of the graph library. */
const INTERRUPTS = '__interrupt__';

/** Ids of one millisecond may lie behind the clock that made them. */
const SLACK_MS = 1_000;

export function sideOf(trace: RunTrace, { from, until, isLoose }: Omit<Side, 'ids'>): Side {
  const ids = new Set<string>();
  const add = (...texts: readonly (string | null)[]): void => {
    for (const text of texts) for (const [id] of (text ?? '').matchAll(UUIDS)) ids.add(id.toLowerCase());
  };
  const addInterrupts = (value: Json): void => {
    for (const each of Array.isArray(value) ? value : [value])
      for (const name of ['id', 'interrupt_id'])
        if (isObject(each) && typeof each[name] === 'string') ids.add(each[name].toLowerCase());
  };
  for (const { ns, checkpointId, parentId } of trace.checkpoints) add(ns, checkpointId, parentId);
  for (const { ns, checkpointId, taskId, channel, data } of trace.writes) {
    add(ns, checkpointId, taskId);
    if (channel === INTERRUPTS) addInterrupts(parseStored(data));
  }
  for (const { event } of trace.frames) add(event);
  if (trace.outcome?.kind === 'success')
    for (const [taskId, interrupts] of Object.entries(trace.outcome.interrupts)) {
      add(taskId);
      addInterrupts(interrupts as Json);
    }
  return { ids, from: from - SLACK_MS, until: until + SLACK_MS, isLoose };
}
