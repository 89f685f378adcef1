/** The clock of a re-executed run: `Date` shows the time of the last recorded answer, and goes on from there. */
import { currentSession } from './session.ts';

/** Wall time in milliseconds since 1970, whatever `Date` shows. */
export const realNow: () => number = globalThis.Date.now;

/** Replaces `Date`. For the process of a re-execution only. */
let isInstalled = false;

export function interceptClock(): void {
  if (isInstalled) return;
  isInstalled = true;
  const Real = globalThis.Date;
  const now = (): number => {
    const session = currentSession();
    return session?.mode === 'replay' ? session.now() : realNow();
  };
  globalThis.Date = new Proxy(Real, {
    get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name, target) as unknown)),
    construct: (target, args, newTarget) =>
      Reflect.construct(
        target,
        args.length === 0 ? [now()] : args,
        newTarget === globalThis.Date ? target : newTarget,
      ) as object,
    apply: () => new Real(now()).toString(),
  });
}
