/** The order of pending writes, in which the runtime applies them and every store lists them. */
import type { PendingWrite } from './port.ts';

type Key = Pick<PendingWrite, 'taskPath' | 'taskId' | 'idx'>;

/** Compares by task path, then task id, then index. */
export const compareWrites = (a: Key, b: Key): number =>
  compareTexts(a.taskPath ?? '', b.taskPath ?? '') || compareTexts(a.taskId, b.taskId) || a.idx - b.idx;

/** Compares by code point, which equals the byte order of UTF-8. Surrogates rank above all other UTF-16 units. */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
