/** Declares a setting: a schema with a description, and where its value comes from. */
import { z } from 'zod';

/** Details of a setting or kind beside its schema. */
export interface Details {
  /** Sources, separated by spaces, in falling precedence: `--option`, variables, `path.in.the.file`. */
  readonly from?: string;
  /** Text for a type that JSON Schema cannot express. */
  readonly form?: string;
  /** Text for a default that is no constant. */
  readonly byDefault?: string;
  /** Messages never quote the value. */
  readonly isSecret?: boolean;
  /** Text that stands for no value is returned unchanged, so that the check rejects it. Undefined: not set. */
  readonly fromText?: (text: string) => unknown;
}

/** Texts by name: variables, and options with their dashes. */
export type Environment = Readonly<Record<string, string | undefined>>;

const registry = z.registry<Details>();

/** Adds details to those of the schema. */
export function withDetails<S extends z.ZodType>(schema: S, more: Details): S {
  registry.add(schema, { ...registry.get(schema), ...more });
  return schema;
}

export const withForm = <S extends z.ZodType>(schema: S, form: string): S => withDetails(schema, { form });

/** A schema, and those inside of its defaults, options and transformations. */
function layersOf(schema: z.core.$ZodType): z.core.$ZodType[] {
  const def = schema._zod.def as { readonly innerType?: z.core.$ZodType; readonly in?: z.core.$ZodType };
  const inner = def.innerType ?? def.in;
  return inner === undefined ? [schema] : [schema, ...layersOf(inner)];
}

export const coreOf = (schema: z.core.$ZodType): z.core.$ZodType => layersOf(schema).at(-1)!;

/** Details of all layers; the outer ones win. */
export const detailsOf = (schema: z.core.$ZodType): Details =>
  layersOf(schema).reduceRight<Details>((inner, layer) => ({ ...inner, ...registry.get(layer) }), {});

export const setting = <S extends z.ZodType>(
  from: string,
  schema: S,
  description: string,
  byDefault?: string,
): S => withDetails(schema.describe(description), { from, ...(byDefault !== undefined && { byDefault }) });

/** Settings that belong together. */
export const group = <S extends z.ZodRawShape>(shape: S) => z.object(shape).readonly();
