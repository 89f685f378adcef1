/** Rows of assistants and of their versions. */
import type { AssistantContent, AssistantEvent } from '../../../assistant/events.ts';
import type { Recorded } from '../../port/events.ts';
import type { Row, RowWrite } from '../../port/rows.ts';

export function projectAssistant(event: Recorded<AssistantEvent>): readonly RowWrite[] {
  const { at } = event.meta;
  const { assistantId } = event.data;
  const key = { assistant_id: assistantId };
  switch (event.type) {
    case 'AssistantCreated': {
      const content = columnsOf(event.data);
      const system = event.data.system ? 1 : 0;
      const row = { ...key, ...content, version: 1, system, created_at: at, updated_at: at };
      return [{ op: 'put', table: 'assistants', row }, versionRow(assistantId, 1, content, at)];
    }
    case 'AssistantUpdated': {
      const content = columnsOf(event.data);
      const { version } = event.data;
      return [
        { op: 'set', table: 'assistants', key, set: { ...content, version, updated_at: at } },
        versionRow(assistantId, version, content, at),
      ];
    }
    case 'AssistantVersionSet': {
      const set = { ...columnsOf(event.data), version: event.data.version, updated_at: at };
      return [{ op: 'set', table: 'assistants', key, set }];
    }
    case 'AssistantDeleted':
      return [
        { op: 'drop', table: 'assistant_versions', key },
        { op: 'drop', table: 'assistants', key },
      ];
  }
}

const versionRow = (assistantId: string, version: number, content: Row, at: number): RowWrite => ({
  op: 'put',
  table: 'assistant_versions',
  row: {
    version_id: `${assistantId} ${version}`,
    assistant_id: assistantId,
    version,
    ...content,
    created_at: at,
  },
});

const columnsOf = ({ graphId, name, description, config, context, metadata }: AssistantContent): Row => ({
  graph_id: graphId,
  name,
  description,
  config: JSON.stringify(config),
  context: JSON.stringify(context),
  metadata: JSON.stringify(metadata),
});
