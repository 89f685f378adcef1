/**
 * S3 Values of a checkpoint never change, so those that are large are held once for all who were given them: as long as
 * one of them has the text, the others need not have it made again. L3 A deleted thread may be imported again with other
 * values under the same ids.
 */
import type { JsonText } from '../../../kernel/json-text.ts';
import { createWeakValues, WORTH_HOLDING } from '../../../kernel/weak-values.ts';

export interface HeldValues {
  of(key: string, make: () => JsonText): JsonText;
  /** Call after a thread was deleted. */
  forget(): void;
}

export function createHeldValues(): HeldValues {
  const held = createWeakValues<JsonText>();
  return {
    of(key, make) {
      const known = held.get(key);
      if (known !== undefined) return known;
      const values = make();
      if (values.text.length > WORTH_HOLDING) held.set(key, values);
      return values;
    },
    forget: held.clear,
  };
}
