/**
 * Declares an endpoint of the API in one place: method, path, schemas, replies and handler. The router (`router.ts`) and
 * the OpenAPI document (`openapi/document.ts`) are made from these declarations.
 *
 * To add an endpoint, add it to the list of a file in its resource's folder; `endpoints.ts` names these files.
 *
 *     endpoint({
 *       method: 'get',
 *       path: '/things/{thing_id}',
 *       tag: 'things',
 *       summary: 'Get a thing',
 *       query: z.object({ parts: withDefault(z.boolean(), false) }),   // one parameter per member
 *       replies: { 200: json(thing, 'The thing'), ...problems(404) },
 *       handle: async ({ context, actor, params, query }) =>
 *         jsonReply(toThing(await findThing(context, actor, params.thing_id), query.parts)),
 *     })
 */
import type { Context } from 'hono';
import type { z } from 'zod';
import type { Actor } from '../auth/authenticate.ts';
import { check, pathUuid } from './check.ts';
import type { Env, ServerContext } from './context.ts';
import type { Reply, Tag } from './openapi/descriptions.ts';
import { kindsOf, readQuery } from './query.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Members of a declaration that the OpenAPI document shows. */
export interface Operation {
  readonly method: Method;
  /** Path with parameters in braces. Parameters `…_id` are UUIDs, except `assistant_id`, which may be a name. */
  readonly path: string;
  readonly tag: Tag;
  /** False for an endpoint that only reads although it is no GET, true for a GET that may change something. */
  readonly changes?: boolean;
  /** Short title without a full stop. */
  readonly summary: string;
  readonly description?: string;
  /** Every member is a query parameter. */
  readonly query?: z.ZodObject;
  /** Descriptions of request headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Schema of the body. The body is required if the schema rejects an empty one. */
  readonly body?: z.ZodType;
  /** Media type of a body that is no JSON: `handle` reads it from `c.req.raw` within bounds of its own. */
  readonly upload?: string;
  readonly replies: Readonly<Record<number, Reply>>;
}

export interface Endpoint extends Operation {
  /** Validates path, query and body, in this order, and replies. Throws a 422 for the first that is invalid. */
  answer(context: ServerContext, c: Context<Env>): Promise<Response>;
}

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

/** A validated request. */
export interface EndpointRequest<Path extends string, Query, Body> {
  readonly context: ServerContext;
  /** Undefined on public routes. */
  readonly actor: Actor;
  /** UUIDs are in lower case. */
  readonly params: Readonly<Record<ParamName<Path>, string>>;
  readonly query: Query;
  readonly body: Body;
  /** The router's request: headers, and the body as it was sent (`c.var.body`). */
  readonly c: Context<Env>;
}

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

interface Declaration<Path extends string, Query, Body> extends Omit<Operation, 'path' | 'query' | 'body'> {
  readonly path: Path;
  readonly query?: Query;
  readonly body?: Body;
  /** Schema of a body that `handle` checks itself, because it refuses some bodies with another status than 422. */
  readonly describedBody?: z.ZodType;
  /** Parameters of the path that `handle` checks itself. */
  readonly rawParams?: readonly ParamName<Path>[];
  handle(request: EndpointRequest<Path, OutputOf<Query>, OutputOf<Body>>): Response | Promise<Response>;
}

export function endpoint<
  const Path extends string,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(declaration: Declaration<Path, Query, Body>): Endpoint {
  const { handle, query, body, describedBody, rawParams = [], ...described } = declaration;
  const kinds = query && kindsOf(query);
  const isRaw = (name: string): boolean => (rawParams as readonly string[]).includes(name);
  const params = pathParameters(declaration.path).map((name) => ({
    name,
    isUuid: name.endsWith('_id') && name !== 'assistant_id' && !isRaw(name),
  }));
  const shownBody = body ?? describedBody;
  return {
    ...described,
    ...(query && { query }),
    ...(shownBody && { body: shownBody }),
    async answer(context, c) {
      const given: Record<string, string> = {};
      for (const { name, isUuid } of params) {
        const text = c.req.param(name) ?? '';
        given[name] = isUuid ? pathUuid(text, name) : text;
      }
      return handle({
        context,
        actor: c.var.actor,
        params: given as Record<ParamName<Path>, string>,
        query: (query && check(query, readQuery(c.req.url, kinds!))) as OutputOf<Query>,
        body: (body && check(body, c.var.body ?? emptyBodyOf(body))) as OutputOf<Body>,
        c,
      });
    },
  };
}

/** Names of the parameters of a path, from left to right. */
export const pathParameters = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

/** The value that an empty body stands for. */
export const emptyBodyOf = (schema: z.ZodType): object => (schema.type === 'array' ? [] : {});
