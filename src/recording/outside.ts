/**
 * What reaches outside of a run is not recorded: a recording names it, and a re-execution refuses it. Both ask at each call
 * whose session the code belongs to.
 */
import { syncBuiltinESMExports } from 'node:module';
import { currentSession, isInTransport } from './session.ts';
import { waysOut, type NameOf, type Way } from './ways.ts';

let isWatched = false;

/** Call it before graph code loads, which may keep these functions. */
export function watchOutside(): void {
  if (isWatched) return;
  isWatched = true;
  for (const way of waysOut()) for (const name of way.names) watch(way, name);
  syncBuiltinESMExports();
}

function watch({ owner, nameOf, isAsync = false }: Way, name: string): void {
  const functions = owner as Record<string, unknown>;
  const original = functions[name];
  // Another version of Node may lack it.
  if (typeof original !== 'function') return;
  const watched: object = new Proxy(original, {
    apply(target, self, args: unknown[]): unknown {
      try {
        check(nameOf, args, self);
      } catch (error) {
        if (isAsync) return Promise.reject(error as Error);
        throw error;
      }
      return Reflect.apply(target, self, args);
    },
    construct(target, args: unknown[], newTarget): object {
      check(nameOf, args);
      return Reflect.construct(target, args, newTarget === watched ? target : newTarget) as object;
    },
  });
  functions[name] = watched;
}

function check(nameOf: NameOf, args: readonly unknown[], self?: unknown): void {
  const session = currentSession();
  if (session === undefined) return;
  if (session.mode === 'record' && (session.unrecorded === undefined || isInTransport())) return;
  const what = nameOf(args, self);
  if (what === undefined) return;
  if (session.mode === 'replay') session.closed(what);
  else session.unrecorded?.(what);
}
