/**
 * L3 Reads events stored by earlier versions: each entry turns version n of an event's data into n + 1, so stored rows
 * are never rewritten. An unknown version is an error.
 */
import type { JsonObject } from '../kernel/json.ts';

type Upcaster = (data: JsonObject) => JsonObject;

/** Version that new events are written with: 1 plus the number of upcasters for the type. */
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
