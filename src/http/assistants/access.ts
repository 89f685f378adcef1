/**
 * Decides which assistants a request may read and which it may change.
 *
 * A2 The handler's filter is part of the query. A3 Another user's assistant and a missing one look the same. Every caller
 * may read system assistants (one for each graph); a change of one must pass the filter.
 */
import { systemAssistantId } from '../../actors/assistants.ts';
import type { AssistantContent } from '../../assistant/events.ts';
import type { AssistantRefusal } from '../../assistant/decide.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Filter } from '../../kernel/filter.ts';
import { grantedMetadata, type Granted } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { assistantExists, HttpProblem, noAssistant, noVersion, notAuthorized } from '../replies.ts';
import { assistantPatch } from './schemas.ts';
import type { AssistantRecord } from '../../store/port/views/assistants.ts';

/** Paths and bodies name an assistant by its id, or a graph's own assistant by the graph's name. */
export const toAssistantId = (given: string): string =>
  isUuid(given) ? given.toLowerCase() : systemAssistantId(given);

export async function findAssistant(
  { log }: ServerContext,
  assistantId: string,
  filter: Filter | undefined,
): Promise<AssistantRecord> {
  const assistant = await log.views.assistants.get(assistantId, filter);
  if (assistant === undefined) throw noAssistant();
  return assistant;
}

/** Throws a 403 for a system assistant that the filter excludes: the caller can read it, so A3 does not apply. */
export async function findAssistantToChange(
  { log }: ServerContext,
  assistantId: string,
  filter: Filter | undefined,
): Promise<AssistantRecord> {
  const own = await log.views.assistants.get(assistantId, filter, { systemToo: false });
  if (own !== undefined) return own;
  const seen = await log.views.assistants.get(assistantId, filter);
  throw seen === undefined ? noAssistant() : notAuthorized();
}

/**
 * The content to write, after the handler's changes to the payload. Throws a 403 if the handler's filter forbids the
 * metadata. Throws a `TypeError` (a 500) if the changed payload does not match the schema.
 */
export function grantedChanges(granted: Granted, before?: JsonObject): Partial<AssistantContent> {
  const parsed = assistantPatch.safeParse(granted.value);
  if (!parsed.success)
    throw new TypeError(`the auth handler left a payload that is not valid: ${parsed.error.message}`);
  const { graph_id, name, description, config, context } = parsed.data;
  return {
    ...(graph_id !== undefined && { graphId: graph_id }),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(config !== undefined && { config }),
    ...(context !== undefined && { context }),
    metadata: grantedMetadata(granted, before),
  };
}

export function refusedChange({ code }: AssistantRefusal): HttpProblem {
  switch (code) {
    case 'assistant-exists':
      return assistantExists();
    case 'assistant-missing':
      return noAssistant();
    case 'version-missing':
      return noVersion();
  }
}
