/**
 * S3 Values of a checkpoint never change, so those that are large are held once for all who were given them: as long as
 * one of them has the text, the others need not have it made again.
 */
import type { JsonText } from '../../kernel/json-text.ts';
import { createWeakValues } from '../../kernel/weak-values.ts';

/** In characters. Shorter ones cost less than to remember them. */
const LARGE = 65_536;

export function createHeldValues(): (key: string, make: () => JsonText) => JsonText {
  const held = createWeakValues<JsonText>();
  return (key, make) => {
    const known = held.get(key);
    if (known !== undefined) return known;
    const values = make();
    if (values.text.length > LARGE) held.set(key, values);
    return values;
  };
}
