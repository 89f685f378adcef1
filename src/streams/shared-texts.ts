/** S3 Caches long serialised texts weakly, so all connections that send the same text share its bytes. */
import { createWeakValues, WORTH_HOLDING } from '../kernel/weak-values.ts';

export interface SharedTexts {
  /** Returns `make()`, as shared UTF-8 bytes when it is long. A key must always stand for the same text. */
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
