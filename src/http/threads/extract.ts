/** Extracts single values from a thread's record by path, for example `values.messages[-1].content`. */
import { isObject, type Json } from '../../kernel/json.ts';

/** Keys and indexes from the record inwards; a negative index counts from the end. */
export type Path = readonly (string | number)[];

const MAX_PATH_CHARS = 1000;
const PATH_PATTERN = /^(values|metadata|config|interrupts)((\.[^.[\]]+|\[-?\d{1,9}\])*)$/;
const STEP_PATTERN = /\.([^.[\]]+)|\[(-?\d{1,9})\]/g;

/** Undefined when the text is not a valid path. */
export function parsePath(text: string): Path | undefined {
  const whole = text.length > MAX_PATH_CHARS ? null : PATH_PATTERN.exec(text);
  if (whole === null) return undefined;
  const steps = [...whole[2]!.matchAll(STEP_PATTERN)].map(([, key, index]) => key ?? Number(index));
  return [whole[1]!, ...steps];
}

/** The value at the path, null when there is none. Follows own keys only. */
export function valueAt(record: Json, path: Path): Json {
  let found: Json | undefined = record;
  for (const step of path) {
    if (typeof step === 'number') found = Array.isArray(found) ? found.at(step) : undefined;
    else found = isObject(found) && Object.hasOwn(found, step) ? found[step] : undefined;
    if (found === undefined) return null;
  }
  return found;
}
