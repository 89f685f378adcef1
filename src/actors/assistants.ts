/**
 * The write path of assistants: a command becomes a fact, or a refusal.
 *
 * D1 Every change of an assistant passes through `dispatch`. D3 A refusal is a value and writes nothing. L4 An unknown
 * outcome is an exception and never a refusal. L3 Deletion purges for good. Commands of one assistant are decided one
 * at a time.
 */
import { decide, type AssistantCommand, type AssistantRefusal } from '../assistant/decide.ts';
import { assistantStream } from '../assistant/events.ts';
import { evolve, initial, type AssistantState } from '../assistant/state.ts';
import { uuidv5, type Ids } from '../kernel/ids.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { EventLog } from '../log/log.ts';
import { cronsOf } from '../projections/cron-queries.ts';
import { getVersion } from '../projections/assistant-versions.ts';
import { deletionOf } from './cron-deletion.ts';
import { commit, CONFLICT, createMailboxes, loadState, untilCommitted } from './aggregate.ts';

/** The namespace that existing clients compute system assistants' ids in; it is not the RFC's URL namespace. */
const SYSTEM_ASSISTANTS = '6ba7b821-9dad-11d1-80b4-00c04fd430c8';

/** More than most servers have graphs; clients may name what there is not. */
const MAX_KNOWN = 1_000;
const known = new Map<string, string>();

/** The id of a graph's own assistant: the same on every server. */
export function systemAssistantId(graphId: string): string {
  let id = known.get(graphId);
  if (id === undefined) {
    id = uuidv5(graphId, SYSTEM_ASSISTANTS);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(graphId, id);
  }
  return id;
}

export type AssistantDispatched =
  | { readonly ok: true; readonly state: AssistantState }
  | { readonly ok: false; readonly refusal: AssistantRefusal };

export interface Assistants {
  /** Throws `LogUnavailable` when the outcome is unknown, `LogFull`; never rejects for a refusal. */
  dispatch(assistantId: string, command: AssistantCommand): Promise<AssistantDispatched>;
}

export function createAssistants({ log, ids }: { log: EventLog; ids: Ids }): Assistants {
  const inMailbox = createMailboxes();

  async function perform(assistantId: string, command: AssistantCommand): Promise<AssistantDispatched> {
    const stream = assistantStream(assistantId);
    const commandId = ids.uuid();
    return untilCommitted(`assistant ${assistantId}`, async () => {
      const { state, version } = await loadState<AssistantState>(log, stream, initial);
      const decided = decide(command, state, (number) => getVersion(log.rows, assistantId, number));
      if (!decided.ok) return decided;
      const { event } = decided;
      const after = evolve(state, event);
      const snapshot = after as unknown as Json;
      const isGoing = event.type === 'AssistantDeleted';
      // The crons that would run it go with it.
      const crons = deletionOf(isGoing ? await cronsOf(log.rows, { assistantId }) : []);
      const result = await commit(log, {
        commandId,
        isVital: command.type === 'CreateAssistant' && command.system,
        appends: [{ stream, expected: version, events: [event], snapshot }, ...crons.appends],
        payloads: isGoing
          ? [{ kind: 'purge-stream', stream, tombstone: version + 1 }, ...crons.payloads]
          : [],
      });
      return result.kind === 'committed' ? { ok: true, state: after } : CONFLICT;
    });
  }

  return {
    dispatch: (assistantId, command) => inMailbox(assistantId, () => perform(assistantId, command)),
  };
}

/** Gives every graph its system assistant. One that exists already is left as it is, with what users changed in it. */
export async function ensureSystemAssistants(
  assistants: Assistants,
  graphs: readonly { readonly id: string; readonly description?: string }[],
  defaults: Readonly<Record<string, { config?: JsonObject; context?: JsonObject }>> = {},
): Promise<void> {
  for (const { id: graphId, description = null } of graphs) {
    const assistantId = systemAssistantId(graphId);
    const { config = {}, context = {} } = defaults[graphId] ?? {};
    await assistants.dispatch(assistantId, {
      type: 'CreateAssistant',
      assistantId,
      system: true,
      content: { graphId, name: graphId, description, config, context, metadata: {} },
    });
  }
}
