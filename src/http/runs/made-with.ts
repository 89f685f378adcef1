/**
 * Settings that a graph factory got for the run that saved a thread's head checkpoint. Reading that thread's state, and
 * resuming it without settings, must call the factory with the same settings.
 */
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { MASKED } from '../../kernel/key-names.ts';
import type { MadeWith } from '../../graphs/port.ts';
import type { EventLog } from '../../store/port/log.ts';
import { settingsIn } from './settings.ts';
import type { RunCreate } from './schemas.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';

export function madeWith({ kwargs }: RunRecord): MadeWith {
  if (kwargs.madeWith !== undefined) return kwargs.madeWith;
  const { context = null } = kwargs;
  return {
    configurable: withoutMasked(settingsIn(kwargs.config['configurable'])),
    ...(context !== null && { context: isObject(context) ? withoutMasked(context) : context }),
  };
}

/** A4 Keys are gone with the run: a mask must not replace those of the assistant. */
const withoutMasked = (settings: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== MASKED));

/** Settings of the thread's last ended run, for a run that resumes without settings; undefined for any other run. */
export async function settingsOfHead(
  log: EventLog,
  threadId: string,
  { command, config, context }: RunCreate,
): Promise<MadeWith | undefined> {
  if (command?.resume === undefined || isFilled(settingsIn(config?.configurable)) || isFilled(context))
    return undefined;
  const before = await log.views.runs.lastEnded(threadId);
  return before && madeWith(before);
}

const isFilled = (value: Json | JsonObject | undefined): boolean =>
  isObject(value) && Object.keys(value).length > 0;
