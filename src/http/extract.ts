/** Single values out of a thread's record: `values.messages[-1].content`, `metadata.user.name`. */
import { isObject, type Json } from '../kernel/json.ts';

/** Keys and indexes from the record inwards; an index below 0 counts from the end. */
export type Path = readonly (string | number)[];

const LONGEST = 1000;
const WHOLE = /^(values|metadata|config|interrupts)((\.[^.[\]]+|\[-?\d{1,9}\])*)$/;
const STEP = /\.([^.[\]]+)|\[(-?\d{1,9})\]/g;

/** Undefined when the text is no path. */
export function parsePath(text: string): Path | undefined {
  const whole = text.length > LONGEST ? null : WHOLE.exec(text);
  if (whole === null) return undefined;
  const steps = [...whole[2]!.matchAll(STEP)].map(([, key, index]) => key ?? Number(index));
  return [whole[1]!, ...steps];
}

/** What lies there, null when nothing does. Own keys only. */
export function valueAt(record: Json, path: Path): Json {
  let found: Json | undefined = record;
  for (const step of path) {
    if (typeof step === 'number') found = Array.isArray(found) ? found.at(step) : undefined;
    else found = isObject(found) && Object.hasOwn(found, step) ? found[step] : undefined;
    if (found === undefined) return null;
  }
  return found;
}
