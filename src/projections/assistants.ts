import type { AssistantEvent } from '../assistant/events.ts';
import type { Recorded } from '../log/events.ts';
import type { RowWrite } from '../log/rows.ts';

export function projectAssistant(event: Recorded<AssistantEvent>): readonly RowWrite[] {
  const { at, version } = event.meta;
  const { assistantId, graphId, name, description, config, context, metadata, system } = event.data;
  return [
    {
      op: 'put',
      table: 'assistants',
      row: {
        assistant_id: assistantId,
        graph_id: graphId,
        name,
        description,
        config: JSON.stringify(config),
        context: JSON.stringify(context),
        metadata: JSON.stringify(metadata),
        version,
        system: system ? 1 : 0,
        created_at: at,
        updated_at: at,
      },
    },
  ];
}
