/** What graph code lets happen with nobody to hear it, told so that a flood of it floods nobody else. */
import type { Clock } from '../../kernel/clock.ts';

export type TellStray = (thrown: unknown, context: string) => void;

const EVERY_MS = 1_000;
/** Of so long; each is a message to the server's thread and a line of its log, with a stack. */
const MOST = 5;

/** Tells the first few of every second, and then how many more there were. */
export function limitStrays(tell: TellStray, clock: Pick<Clock, 'after'>): TellStray {
  let told = 0;
  let more = 0;

  function count(): void {
    if (more > 0)
      tell(new Error(`${more} more within ${EVERY_MS / 1000} s`), 'graph code that nothing hears');
    told = more = 0;
  }

  return (thrown, context) => {
    if (told === MOST) {
      more += 1;
      return;
    }
    if (told === 0) clock.after(EVERY_MS, count);
    told += 1;
    tell(thrown, context);
  };
}
