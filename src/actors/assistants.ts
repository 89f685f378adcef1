/** The write path of assistants. D1 Every change of an assistant passes through here. */
import { assistantStream } from '../assistant/events.ts';
import { uuidv5, type Ids } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { EventLog } from '../log/log.ts';
import { getAssistant } from '../projections/assistant-queries.ts';
import { LogUnavailable } from './threads.ts';

/** The namespace that existing clients compute system assistants' ids in; it is not the RFC's URL namespace. */
const SYSTEM_ASSISTANTS = '6ba7b821-9dad-11d1-80b4-00c04fd430c8';

/** The id of a graph's own assistant: the same on every server. */
export const systemAssistantId = (graphId: string): string => uuidv5(graphId, SYSTEM_ASSISTANTS);

/** Gives every graph its system assistant. One that exists already is left as it is. */
export async function ensureSystemAssistants(
  log: EventLog,
  ids: Ids,
  graphIds: readonly string[],
  defaults: Readonly<Record<string, { config?: JsonObject; context?: JsonObject }>> = {},
): Promise<void> {
  for (const graphId of graphIds) {
    const assistantId = systemAssistantId(graphId);
    if ((await getAssistant(log.rows, assistantId)) !== undefined) continue;
    const result = await log.commit({
      commandId: ids.uuid(),
      appends: [
        {
          stream: assistantStream(assistantId),
          expected: 0,
          events: [
            {
              type: 'AssistantCreated',
              data: {
                assistantId,
                graphId,
                name: graphId,
                description: null,
                config: defaults[graphId]?.config ?? {},
                context: defaults[graphId]?.context ?? {},
                metadata: { created_by: 'system' },
                system: true,
              },
            },
          ],
        },
      ],
    });
    if (result.kind === 'unknown-outcome') throw new LogUnavailable(result.cause);
  }
}
