/** R2 Folds any stream whose events have to follow from each other: threads, assistants, crons. */
import { isAssistantStream } from '../assistant/events.ts';
import { isCronStream } from '../cron/events.ts';
import type { Recorded } from '../log/events.ts';
import { createAssistantFold, isAssistantEvent } from './assistant-fold.ts';
import { createCronFold, isCronEvent } from './cron-fold.ts';
import { createFold, isThreadEvent } from './fold.ts';

export interface StreamFold {
  /** Returns why the event cannot follow, undefined when it can. */
  step(event: Recorded): string | undefined;
  readonly state: unknown;
}

const CANNOT_FOLLOW = 'cannot follow what was before';

/** Undefined for streams without such a rule. */
export function openStreamFold(stream: string): StreamFold | undefined {
  if (stream.startsWith('thread-')) return threadFold();
  if (isAssistantStream(stream)) return checked(createAssistantFold(), isAssistantEvent);
  return isCronStream(stream) ? checked(createCronFold(), isCronEvent) : undefined;
}

function threadFold(): StreamFold {
  const fold = createFold();
  return {
    get state() {
      return fold.state;
    },
    step(event) {
      if (!isThreadEvent(event)) return undefined;
      const { impossible, before } = fold.step(event);
      return impossible ? `cannot happen in "${before.status}"` : undefined;
    },
  };
}

const checked = <E extends Recorded>(
  fold: { step(event: E): boolean; readonly state: unknown },
  isOwn: (event: Recorded) => event is E,
): StreamFold => ({
  get state() {
    return fold.state;
  },
  step: (event) => (isOwn(event) && !fold.step(event) ? CANNOT_FOLLOW : undefined),
});
