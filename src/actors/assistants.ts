/**
 * The write path of assistants: a command becomes a fact, or a refusal.
 *
 * D1 Every change of an assistant passes through `dispatch`. D3 A refusal is a value and writes nothing. L4 An unknown
 * outcome is an exception and never a refusal. L3 Deletion purges for good. Commands of one assistant are decided one
 * at a time; a version conflict (another writer of the same log) is decided anew, here and nowhere else.
 */
import { decide, type AssistantCommand, type AssistantRefusal } from '../assistant/decide.ts';
import { assistantStream, type AssistantEvent } from '../assistant/events.ts';
import { evolve, initial, type AssistantState } from '../assistant/state.ts';
import { uuidv5, type Ids } from '../kernel/ids.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { createMailbox, type Mailbox } from '../kernel/mailbox.ts';
import type { EventLog } from '../log/log.ts';
import { cronsOf } from '../projections/cron-queries.ts';
import { getVersion } from '../projections/assistant-versions.ts';
import { deletionOf } from './cron-deletion.ts';
import { assertAnswered, LogUnavailable } from './log-failures.ts';

/** The namespace that existing clients compute system assistants' ids in; it is not the RFC's URL namespace. */
const SYSTEM_ASSISTANTS = '6ba7b821-9dad-11d1-80b4-00c04fd430c8';

/** More than most servers have graphs; clients may name what there is not. */
const MOST_KNOWN = 1_000;
const known = new Map<string, string>();

/** The id of a graph's own assistant: the same on every server. */
export function systemAssistantId(graphId: string): string {
  let id = known.get(graphId);
  if (id === undefined) {
    id = uuidv5(graphId, SYSTEM_ASSISTANTS);
    if (known.size >= MOST_KNOWN) known.clear();
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

const MOST_CONFLICTS = 5;
const PAGE = 500;

export function createAssistants({ log, ids }: { log: EventLog; ids: Ids }): Assistants {
  /** Of assistants that somebody waits for; the state itself is read anew for every command. */
  const mailboxes = new Map<string, Mailbox>();

  async function perform(assistantId: string, command: AssistantCommand): Promise<AssistantDispatched> {
    const stream = assistantStream(assistantId);
    const commandId = ids.uuid();
    for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
      const { state, version } = await load(stream);
      const decided = decide(command, state, (number) => getVersion(log.rows, assistantId, number));
      if (!decided.ok) return decided;
      const { event } = decided;
      const after = evolve(state, event);
      const snapshot = after as unknown as Json;
      const isGoing = event.type === 'AssistantDeleted';
      // What would run it goes with it.
      const crons = deletionOf(isGoing ? await cronsOf(log.rows, { assistantId }) : []);
      const result = await log.commit({
        commandId,
        isVital: command.type === 'CreateAssistant' && command.system,
        appends: [{ stream, expected: version, events: [event], snapshot }, ...crons.appends],
        payloads: isGoing
          ? [{ kind: 'purge-stream', stream, tombstone: version + 1 }, ...crons.payloads]
          : [],
      });
      assertAnswered(result);
      if (result.kind === 'committed') return { ok: true, state: after };
    }
    throw new LogUnavailable(`assistant ${assistantId} changed ${MOST_CONFLICTS} times while deciding`);
  }

  /** The last commit's snapshot, and the facts after it when the log is older than snapshots of assistants. */
  async function load(stream: string): Promise<{ state: AssistantState; version: number }> {
    const snapshot = await log.loadSnapshot(stream);
    let state = snapshot === undefined ? initial : (snapshot.state as Json as unknown as AssistantState);
    let version = snapshot?.version ?? 0;
    for (;;) {
      const events = await log.readStream(stream, version + 1, PAGE);
      for (const event of events) state = evolve(state, event as AssistantEvent);
      const last = events.at(-1);
      if (last === undefined) return { state, version };
      version = last.meta.version;
    }
  }

  return {
    async dispatch(assistantId, command) {
      const mailbox = mailboxes.get(assistantId) ?? createMailbox();
      mailboxes.set(assistantId, mailbox);
      try {
        return await mailbox.post(() => perform(assistantId, command));
      } finally {
        if (mailbox.idle) mailboxes.delete(assistantId);
      }
    },
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
