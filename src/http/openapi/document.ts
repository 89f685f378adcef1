/** Builds an OpenAPI 3.1 document from operations. */
import type { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { PRODUCT } from '../../kernel/product.ts';
import { json, TAGS, type Reply, problem } from './descriptions.ts';
import { toJsonSchema, withoutNull } from './json-schema.ts';
import { emptyBodyOf, pathParameters, type Operation } from '../endpoint.ts';

export interface DocumentOptions {
  readonly version: string;
  readonly operations: readonly Operation[];
  /** Routes without authentication, as `GET /ok`. */
  readonly publicRoutes: ReadonlySet<string>;
  /** Base path of the API: `/` or the mount prefix. */
  readonly base: string;
  /** True when the server requires its own key in `x-api-key`. */
  readonly apiKey: boolean;
  /** Objects that are merged into the document, later ones over earlier ones. */
  readonly merge: readonly JsonObject[];
}

/** Error replies of every operation; `GUARDED` has those of operations with authentication. */
const COMMON: Readonly<Record<number, Reply>> = {
  422: json(problem, 'The request is invalid; the detail names each field and what was expected'),
  503: json(problem, 'Temporarily unavailable: the server is stopping, or its log cannot take changes'),
  507: json(problem, 'The disk is full: only reads and deletions are answered'),
};
const GUARDED: Readonly<Record<number, Reply>> = {
  401: json(problem, 'Authentication failed'),
  403: json(problem, 'The caller is not permitted to do this'),
};

export function createDocument(options: DocumentOptions): JsonObject {
  const schemas: JsonObject = {};
  const paths: Record<string, JsonObject> = {};
  for (const operation of options.operations) {
    const open = options.publicRoutes.has(`${operation.method.toUpperCase()} ${operation.path}`);
    (paths[operation.path] ??= {})[operation.method] = describe(operation, open, schemas);
  }
  const own: JsonObject = {
    openapi: '3.1.0',
    info: {
      title: PRODUCT,
      version: options.version,
      description:
        'Agent graphs behind HTTP. Every path below `/threads` also answers under `/thread`. ' +
        'Members of a request that this document does not name are ignored; null means not given.',
    },
    servers: [{ url: options.base }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas,
      ...(options.apiKey && {
        securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
      }),
    },
    ...(options.apiKey && { security: [{ apiKey: [] }] }),
  };
  return options.merge.reduce(merged, own);
}

function describe(operation: Operation, open: boolean, schemas: JsonObject): JsonObject {
  const { method, path, body, query, headers = {} } = operation;
  const parameters: Json[] = [
    ...pathParameters(path).map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: {
        type: 'string',
        ...(name.endsWith('_id') && name !== 'assistant_id' && { format: 'uuid' }),
      },
    })),
    ...(query === undefined ? [] : parametersOf(query, schemas)),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: 'header',
      description,
      schema: { type: 'string' },
    })),
  ];
  const replies = { ...operation.replies, ...COMMON, ...(open ? {} : GUARDED) };
  return {
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    operationId: `${method}${path.replace(/\W+(\w)/g, (_, first: string) => first.toUpperCase()).replace(/\W/g, '')}`,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: ![undefined, emptyBodyOf(body)].some((empty) => body.safeParse(empty).success),
        content: { 'application/json': { schema: toJsonSchema(body, schemas) } },
      },
    }),
    ...(operation.upload !== undefined && {
      requestBody: {
        required: true,
        content: { [operation.upload]: { schema: { type: 'string', format: 'binary' } } },
      },
    }),
    responses: Object.fromEntries(
      Object.entries(replies).map(([status, reply]) => [status, responseOf(reply, schemas)]),
    ),
    ...(open && { security: [] }),
  };
}

function parametersOf(query: z.ZodObject, schemas: JsonObject): Json[] {
  return Object.entries(query.shape).map(([name, member]) => {
    const field = member as z.ZodType;
    const schema = withoutNull(toJsonSchema(field, schemas));
    const structured = isObject(schema) && (schema['type'] === undefined || schema['type'] === 'object');
    return {
      name,
      in: 'query',
      required: !field.safeParse(undefined).success,
      // Objects are JSON text in the query.
      ...(structured && !('enum' in schema) ? { content: { 'application/json': { schema } } } : { schema }),
    };
  });
}

function responseOf({ description, content, headers }: Reply, schemas: JsonObject): JsonObject {
  return {
    description,
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, meaning]) => [
          name,
          { description: meaning, schema: { type: 'string' } },
        ]),
      ),
    }),
    ...(content && {
      content: Object.fromEntries(
        Object.entries(content).map(([type, schema]) => [type, { schema: toJsonSchema(schema, schemas) }]),
      ),
    }),
  };
}

/** Merges objects recursively and replaces other values. */
function merged(own: JsonObject, other: JsonObject): JsonObject {
  const result: JsonObject = { ...own };
  for (const [key, value] of Object.entries(other)) {
    const before = result[key];
    result[key] = isObject(before) && isObject(value) ? merged(before, value) : value;
  }
  return result;
}
