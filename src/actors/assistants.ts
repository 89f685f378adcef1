/**
 * The write path of assistants: turns a command into an event or a refusal.
 *
 * D1 Every change of an assistant passes through `dispatch`. D3 A refusal is a value and writes nothing. L3 Deletion
 * purges for good. L4 An unknown outcome throws and is never a refusal. Commands of one assistant are decided one at a
 * time.
 */
import { decide, type AssistantCommand, type AssistantRefusal } from '../assistant/decide.ts';
import { assistantStream } from '../assistant/events.ts';
import { evolve, initial, type AssistantState } from '../assistant/state.ts';
import { uuidv5, type Ids } from '../kernel/ids.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { EventLog } from '../store/port/log.ts';
import { deletionOf } from './cron-deletion.ts';
import { commit, CONFLICT, createMailboxes, loadState, untilCommitted } from './aggregate.ts';

/** UUIDv5 namespace in which existing clients compute ids of system assistants; not the URL namespace of the RFC. */
const SYSTEM_ASSISTANTS = '6ba7b821-9dad-11d1-80b4-00c04fd430c8';

/** Id of a graph's system assistant; equal on every server. */
export const systemAssistantId = (graphId: string): string => uuidv5(graphId, SYSTEM_ASSISTANTS);

type AssistantDispatched =
  /** `at`: time of the change, in milliseconds since 1970. */
  | { readonly ok: true; readonly state: AssistantState; readonly at: number }
  | { readonly ok: false; readonly refusal: AssistantRefusal };

export interface Assistants {
  /** Throws `LogUnavailable` when the outcome is unknown and `LogFull` on a full disk; never rejects for a refusal. */
  dispatch(
    assistantId: string,
    command: AssistantCommand,
    options?: { /** Identity of the caller (log/log.ts). */ readonly by?: string | undefined },
  ): Promise<AssistantDispatched>;
}

export function createAssistants({ log, ids }: { log: EventLog; ids: Ids }): Assistants {
  const inMailbox = createMailboxes();

  async function perform(
    assistantId: string,
    command: AssistantCommand,
    by?: string,
  ): Promise<AssistantDispatched> {
    const stream = assistantStream(assistantId);
    const commandId = ids.uuid();
    return untilCommitted(`assistant ${assistantId}`, async () => {
      const { state, version } = await loadState(log, stream, { initial, evolve });
      const wanted =
        command.type === 'SetAssistantVersion'
          ? await log.views.assistants.version(assistantId, command.version)
          : undefined;
      const decided = decide(command, state, wanted);
      if (!decided.ok) return decided;
      const { event } = decided;
      const after = evolve(state, event);
      const snapshot = after as unknown as Json;
      const isDeletion = event.type === 'AssistantDeleted';
      // An assistant's crons are deleted with it.
      const crons = deletionOf(isDeletion ? await log.views.crons.of({ assistantId }) : []);
      const result = await commit(log, {
        commandId,
        by,
        isVital: command.type === 'CreateAssistant' && command.system,
        appends: [{ stream, expected: version, events: [event], snapshot }, ...crons.appends],
        payloads: isDeletion
          ? [{ kind: 'purge-stream', stream, tombstone: version + 1 }, ...crons.payloads]
          : [],
      });
      return result.kind === 'committed' ? { ok: true, state: after, at: result.receipt.at } : CONFLICT;
    });
  }

  return {
    dispatch: (assistantId, command, { by } = {}) =>
      inMailbox(assistantId, () => perform(assistantId, command, by)),
  };
}

/** Creates missing system assistants. Existing ones keep the changes that users made. */
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
