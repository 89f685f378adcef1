/** Assistants and their graphs as clients see them. */
import { z } from 'zod';
import type { GraphSchemas } from '../../graphs/schema-port.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { json, jsonObject } from '../fields.ts';
import { id, time } from '../reply-fields.ts';
import type { AssistantRecord, AssistantVersionRecord } from '../../store/port/views/assistants.ts';

export const assistant = z
  .object({
    assistant_id: id,
    graph_id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    config: jsonObject,
    context: json,
    metadata: jsonObject,
    version: z.int().min(1),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Assistant' });

export function toAssistant(assistant: AssistantRecord): JsonObject {
  return {
    assistant_id: assistant.assistantId,
    graph_id: assistant.graphId,
    name: assistant.name,
    description: assistant.description,
    config: assistant.config,
    context: assistant.context,
    metadata: assistant.metadata,
    version: assistant.version,
    created_at: toTimestamp(assistant.createdAt),
    updated_at: toTimestamp(assistant.updatedAt),
  };
}

export const assistantVersion = assistant.omit({ updated_at: true }).meta({
  id: 'AssistantVersion',
  description: 'A version of an assistant; `created_at` is the time of the version.',
});

/** Has no `updated_at`: a version never changes. */
export function toAssistantVersion(version: AssistantVersionRecord): JsonObject {
  return {
    assistant_id: version.assistantId,
    version: version.version,
    graph_id: version.graphId,
    name: version.name,
    description: version.description,
    config: version.config,
    context: version.context,
    metadata: version.metadata,
    created_at: toTimestamp(version.createdAt),
  };
}

const schema = jsonObject.nullable().meta({ description: 'JSON Schema; null when it is unknown.' });

export const graphSchemas = z
  .object({
    graph_id: z.string(),
    input_schema: schema,
    output_schema: schema,
    state_schema: schema,
    config_schema: schema,
    context_schema: schema,
  })
  .meta({ id: 'GraphSchemas' });

export const subgraphSchemas = graphSchemas
  .extend({ input: schema, output: schema, state: schema, config: schema })
  .meta({ id: 'SubgraphSchemas', description: 'The same schemas under both names that clients know.' });

export const toGraphSchemas = (
  graphId: string,
  { input, output, state, config }: GraphSchemas,
): JsonObject => ({
  graph_id: graphId,
  input_schema: input,
  output_schema: output,
  state_schema: state,
  config_schema: config,
  context_schema: config,
});

/** Has each schema under two keys, as clients read either. */
export const toSubgraphSchemas = (graphId: string, schemas: GraphSchemas): JsonObject => ({
  ...toGraphSchemas(graphId, schemas),
  input: schemas.input,
  output: schemas.output,
  state: schemas.state,
  config: schemas.config,
});

export const drawing = z
  .object({
    nodes: z.array(
      z.looseObject({ id: z.string(), type: z.enum(['schema', 'runnable']), data: json.optional() }),
    ),
    edges: z.array(
      z.looseObject({
        source: z.string(),
        target: z.string(),
        conditional: z.boolean().optional(),
        data: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'Drawing' });
