/**
 * The records of an exported file. A record is one line of JSON, its head, and where that names `bytes` a body of so many
 * bytes and a line feed. `README.md` has the format in words.
 */
import { z } from 'zod';
import { isUuid } from '../kernel/ids.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { UsedAssistant } from '../thread/import-origin.ts';

/** Turns records of format n into those of n + 1. */
type FormatUpcaster = (head: JsonObject) => JsonObject;
const UPCASTERS: readonly FormatUpcaster[] = [];

export const FORMAT = UPCASTERS.length + 1;

/** `format`: of the file, at most `FORMAT`. */
export const upcastHead = (format: number, head: JsonObject, upcasters = UPCASTERS): JsonObject =>
  upcasters.slice(format - 1).reduce((current, step) => step(current), head);

/** A time beyond it is no date. */
const MAX_TIME_MS = 8_640_000_000_000_000;
/** Names of namespaces and tasks grow with the depth of a graph. */
const MAX_NAME = 65_536;

export const time = z.int().min(0).max(MAX_TIME_MS);
export const name = z.string().max(MAX_NAME);
/** Ids are in lower case, as the server writes them. */
export const uuid = z
  .string()
  .refine((id) => isUuid(id) && id === id.toLowerCase(), 'expected a UUID in lower case');
/** Passes through as it is: zod's records drop the key `__proto__`. */
export const object = z.custom<JsonObject>(isObject, 'expected an object');

/** Members of the head that describe the record's body. */
export const body = z.object({
  /** `json`: JSON text in UTF-8, values of graphs in the form of kernel/tagged.ts. `bytes`: anything else. */
  encoding: z.enum(['json', 'bytes']),
  bytes: z.int().min(0),
  /**
   * The body is the first `head` UTF-16 units of its text; then come `kept` units of the text of record number `of`,
   * from its unit `start` on, and then the rest of the body. Only of texts in the window (window.ts).
   */
  splice: z
    .object({ of: z.int().min(0), head: z.int().min(0), start: z.int().min(0), kept: z.int().min(0) })
    .optional(),
});

export type Body = z.infer<typeof body>;

const context = z.custom<Json | undefined>(() => true);
export const assistant: z.ZodType<UsedAssistant> = z.object({
  id: name,
  graph: name,
  versions: z.array(z.object({ version: z.int(), graph: name, name, config: object, context })),
});
export const libraries = z.record(z.string(), z.string());

/** The first record: what a person or program wants to know before the rest. */
export const header = z.object({
  kind: z.literal('header'),
  program: name,
  exportedAt: time,
  thread: z.object({ id: uuid }),
  graphs: z.array(name),
  assistants: z.array(assistant),
  /** Versions of packages that the graphs used, by name. */
  libraries,
});
export type Header = z.infer<typeof header>;

/** The first record of a whole log. */
export const logHeader = z.object({ kind: z.literal('header'), program: name, exportedAt: time });

/**
 * A fact of a stream. Its body is the event's data, in the shape of the event's `schema`. A whole log also tells its position
 * and its command.
 */
export const eventHead = body.extend({
  kind: z.literal('event'),
  stream: name,
  version: z.int().min(1),
  type: name,
  schema: z.int().min(1),
  at: time,
  position: z.int().min(1).optional(),
  command: name.optional(),
});

/** The last record. */
export const end = z.object({ kind: z.literal('end'), counts: z.record(z.string(), z.int().min(0)) });
