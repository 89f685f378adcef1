/**
 * The settings that a graph's function made the graph with whose checkpoint is the head of a thread. A question of that
 * thread's state, and an answer that brings no settings of its own, need the same graph again.
 */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { MadeWith } from '../graphs/port.ts';
import type { EventLog } from '../log/log.ts';
import { lastEndedRun, type RunRecord } from '../projections/run-queries.ts';
import { settingsIn } from './run-settings.ts';
import type { RunCreate } from './schemas/runs.ts';

export function madeWith({ kwargs }: RunRecord): MadeWith {
  if (kwargs.madeWith !== undefined) return kwargs.madeWith;
  return {
    configurable: settingsIn(kwargs.config['configurable']),
    ...(kwargs.context !== undefined && kwargs.context !== null && { context: kwargs.context }),
  };
}

/** For a run that answers with settings of the run before; undefined for any other. */
export async function settingsOfHead(
  log: EventLog,
  threadId: string,
  { command, config, context }: RunCreate,
): Promise<MadeWith | undefined> {
  if (command?.resume === undefined || isFilled(settingsIn(config?.configurable)) || isFilled(context))
    return undefined;
  const before = await lastEndedRun(log.rows, threadId);
  return before && madeWith(before);
}

const isFilled = (value: Json | JsonObject | undefined): boolean =>
  isObject(value) && Object.keys(value).length > 0;
