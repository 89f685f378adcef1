/** Questions about assistants and their versions. */
import type { AssistantContent } from '../../../assistant/events.ts';
import type { Filter } from '../../../kernel/filter.ts';
import type { JsonObject } from '../../../kernel/json.ts';

export interface AssistantVersionRecord extends AssistantContent {
  readonly assistantId: string;
  readonly version: number;
  /** When this version was made; of the assistant itself, when that was. */
  readonly createdAt: number;
}

export interface AssistantRecord extends AssistantVersionRecord {
  /** Made by the server for one of its graphs. */
  readonly system: boolean;
  readonly updatedAt: number;
}

export const ASSISTANT_SORTS = ['assistant_id', 'graph_id', 'name', 'created_at', 'updated_at'] as const;

export interface AssistantSearch {
  readonly graphId?: string;
  /** Case-insensitive part of the name. */
  readonly name?: string;
  readonly metadata?: JsonObject;
  readonly sortBy: (typeof ASSISTANT_SORTS)[number];
  readonly sortOrder: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
}

export interface VersionSearch {
  readonly assistantId: string;
  readonly metadata?: JsonObject;
  readonly limit: number;
  readonly offset: number;
}

export interface AssistantViews {
  /** `systemToo` (true by default): the filter lets the server's own assistants through, which all may read. */
  get(
    assistantId: string,
    filter?: Filter,
    options?: { systemToo?: boolean },
  ): Promise<AssistantRecord | undefined>;
  /** The matches of one page, and how many there are in all. */
  search(search: AssistantSearch, filter?: Filter): Promise<{ assistants: AssistantRecord[]; total: number }>;
  /** Newest version first. The filter has to let both the assistant and the version through. */
  versions(search: VersionSearch, filter?: Filter): Promise<AssistantVersionRecord[]>;
  version(assistantId: string, version: number, filter?: Filter): Promise<AssistantVersionRecord | undefined>;
}
