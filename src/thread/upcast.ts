/**
 * Reads facts of earlier versions of this program (L3): each entry turns version n of a fact's data into n + 1, so a
 * stored row is never rewritten. A version that this program does not know stops the reader.
 */
import type { JsonObject } from '../kernel/json.ts';

export type Upcaster = (data: JsonObject) => JsonObject;

/** The version that new facts are written with; a fact without entries has version 1. */
export function schemaVersionOf(type: string, upcasters: Upcasters): number {
  return (upcasters[type]?.length ?? 0) + 1;
}

const NONE: readonly Upcaster[] = [];

export type Upcasters = Readonly<Record<string, readonly Upcaster[]>>;

export function upcast(type: string, version: number, data: JsonObject, upcasters: Upcasters): JsonObject {
  const steps = upcasters[type] ?? NONE;
  if (version < 1 || version > steps.length + 1)
    throw new Error(
      `${type} was stored as version ${version}, this program reads versions 1 to ${steps.length + 1}`,
    );
  if (version === steps.length + 1) return data;
  return steps.slice(version - 1).reduce((current, step) => step(current), data);
}
