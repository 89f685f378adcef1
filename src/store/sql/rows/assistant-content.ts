/** What the rows of assistants and of their versions have in common. */
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import type { Cell } from '../../port/rows.ts';
import type { AssistantVersionRecord } from '../../port/views/assistants.ts';

export interface ContentRow {
  [column: string]: Cell;
  assistant_id: string;
  version: number;
  graph_id: string;
  name: string;
  description: string | null;
  config: string;
  context: string;
  metadata: string;
  created_at: number;
}

export const toContent = (row: ContentRow): AssistantVersionRecord => ({
  assistantId: row.assistant_id,
  version: row.version,
  graphId: row.graph_id,
  name: row.name,
  description: row.description,
  config: fromStored(row.config, 'config of assistant', row.assistant_id) as JsonObject,
  context: fromStored(row.context, 'context of assistant', row.assistant_id) as Json,
  metadata: fromStored(row.metadata, 'metadata of assistant', row.assistant_id) as JsonObject,
  createdAt: row.created_at,
});
