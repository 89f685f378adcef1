/** Short messages about what an action did, and questions before one that cannot be taken back. */
import { signal } from '@preact/signals';
import { sentenceOf } from '../api/http.ts';

export interface Notice {
  readonly text: string;
  readonly isBad: boolean;
}

export const notice = signal<Notice | undefined>(undefined);

const SHOWN_MS = 6_000;
let timer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string, isBad = false): void {
  clearTimeout(timer);
  notice.value = { text, isBad };
  timer = setTimeout(() => (notice.value = undefined), SHOWN_MS);
}

/** Names of actions that are under way. */
export const busy = signal<ReadonlySet<string>>(new Set());

/** Runs an action once at a time, tells why it failed, and returns whether it was done. */
export async function act(name: string, action: () => Promise<unknown>): Promise<boolean> {
  if (busy.peek().has(name)) return false;
  busy.value = new Set([...busy.peek(), name]);
  try {
    await action();
    return true;
  } catch (error) {
    say(sentenceOf(error), true);
    return false;
  } finally {
    busy.value = new Set([...busy.peek()].filter((each) => each !== name));
  }
}
