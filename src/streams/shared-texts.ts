/**
 * S3 What is long and the same for all who are sent it, held once: as long as one of them holds its bytes, the others are
 * given them, and need not make them again.
 */
import { createWeakValues, WORTH_HOLDING } from '../kernel/weak-values.ts';

export interface SharedTexts {
  /** What `make` returns, which has to be the same for ever under that key; as UTF-8 when it is long. */
  of(key: string, make: () => string): string | Uint8Array;
}

export function createSharedTexts(): SharedTexts {
  const held = createWeakValues<Uint8Array>();
  return {
    of(key, make) {
      const known = held.get(key);
      if (known !== undefined) return known;
      const text = make();
      if (text.length <= WORTH_HOLDING) return text;
      const bytes = Buffer.from(text);
      held.set(key, bytes);
      return bytes;
    },
  };
}
