/** The order in which a graph's runtime applies what the tasks of a step wrote, and in which every store lists it. */
import type { PendingWrite } from './port.ts';

type Key = Pick<PendingWrite, 'taskPath' | 'taskId' | 'idx'>;

/** By path, then by task, then by index. */
export const compareWrites = (a: Key, b: Key): number =>
  compareTexts(a.taskPath ?? '', b.taskPath ?? '') || compareTexts(a.taskId, b.taskId) || a.idx - b.idx;

/** By code point, as the bytes of UTF-8 compare: halves of a pair stand for characters above all others. */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
