/**
 * S3 Values of a checkpoint never change, so those that are large are held once for all who were given them: as long as
 * one of them has the text, the others need not have it made again. L3 A deleted thread may be imported again with other
 * values under the same ids.
 */
import type { JsonText } from '../../../kernel/json-text.ts';
import { createWeakValues, WORTH_HOLDING } from '../../../kernel/weak-values.ts';

export interface HeldValues {
  of(key: string): JsonText | undefined;
  hold(key: string, values: JsonText): void;
  /** Call after a thread was deleted, where another one may get its row ids. */
  forget(): void;
}

export function createHeldValues(): HeldValues {
  const held = createWeakValues<JsonText>();
  return {
    of: held.get,
    hold(key, values) {
      if (values.text.length > WORTH_HOLDING) held.set(key, values);
    },
    forget: held.clear,
  };
}
