/**
 * What graph code may do to the thread it runs in, and to the runs it shares it with.
 *
 * X4 Exceptions and rejections that nothing hears, and `process.exit`, end the run they come from and no other; what
 * would reach the whole process is refused (thread-guard.cjs), also in threads that graph code starts. The language
 * cannot be changed once the graphs are loaded: to try throws into the graph.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { ownScript } from '../../kernel/own-modules.ts';
import { CURRENT_JOB } from './sides.ts';

/** A run, or a question about a graph. */
export interface GuardedJob {
  /** As the server knows it. */
  readonly job: number;
  readonly title: string;
  /** Ends a run with this error, unless it is over. */
  fail(thrown: unknown): void;
}

export interface Guard {
  /** Whatever `work` sets off belongs to the job, also what comes later. */
  inside<T>(job: GuardedJob, work: () => T): T;
  /** The graphs are loaded: from now on they can neither end the thread nor change what the server relies on. */
  lock(): void;
}

/** `onStray` hears what graph code let happen with nobody to hear it. */
export function guardThread(onStray: (thrown: unknown, context: string) => void): Guard {
  const current = new AsyncLocalStorage<object>();
  const jobs = new WeakMap<object, GuardedJob>();
  // As they are now: graph code may replace them for a moment, and would have what ends the runs of others.
  const { get, set } = WeakMap.prototype;
  const { apply, deleteProperty, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const currentJob = (): GuardedJob | undefined =>
    apply(get, jobs, [current.getStore()]) as GuardedJob | undefined;

  const hear = (thrown: unknown, what: string): void => {
    const job = currentJob();
    onStray(thrown, job === undefined ? what : `${job.title}: ${what}`);
    job?.fail(thrown);
  };
  process.on('uncaughtException', (thrown: unknown) => hear(thrown, 'an exception that nothing catches'));
  process.on('unhandledRejection', (thrown: unknown) => hear(thrown, 'a rejection that nothing handles'));

  createRequire(import.meta.url)(ownScript('graphs/pool/thread-guard'));
  // Asked from outside, in the middle of whatever runs.
  Object.defineProperty(globalThis, Symbol.for(CURRENT_JOB), { value: () => currentJob()?.job });
  // They would hand out the channel to the server.
  const hidden = { value: () => [], configurable: false };
  Object.defineProperties(process, { _getActiveHandles: hidden, _getActiveRequests: hidden });
  /** How modules of the project have stacks written. */
  let stacks: PropertyDescriptor | undefined;
  let isLocked = false;
  /** One that a run leaves behind is called for every error of whoever comes after, and may spin or throw there. */
  function restoreStacks(): void {
    if (!isLocked || getOwnPropertyDescriptor(Error, STACKS)?.value === stacks?.value) return;
    if (stacks === undefined) deleteProperty(Error, STACKS);
    else defineProperty(Error, STACKS, stacks);
  }

  return {
    inside(job, work) {
      restoreStacks();
      // Graph code finds it on whatever the job has begun, and can do nothing with it.
      const token = Object.freeze({});
      apply(set, jobs, [token, job]);
      return current.run(token, work);
    },
    lock() {
      process.exit = (code) => {
        const error = named('ProcessExit', `The graph called process.exit(${code ?? ''})`);
        const job = currentJob();
        if (job === undefined) onStray(error, 'outside of a run');
        job?.fail(error);
        throw error;
      };
      lockLanguage();
      stacks = getOwnPropertyDescriptor(Error, STACKS);
      isLocked = true;
    },
  };
}

const STACKS = 'prepareStackTrace';

function named(name: string, message: string): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}

/**
 * The constructors and functions that serialising and waiting rest on. Prototypes of values stay open, because
 * libraries give single objects methods of the same names, which a read-only prototype would forbid. `Symbol.species`
 * and the `constructor` of prototypes stay as well: to V8 any change of them, even that nobody may change them, is the end
 * of its short cuts for lists, promises and patterns, which are up to forty times as fast. They are compared (natives.ts).
 */
function lockLanguage(): void {
  const fixed = { writable: false, configurable: false };
  for (const name of ['JSON', 'Promise', 'Object', 'Array', 'Map', 'Set', 'Date', 'Reflect'])
    Object.defineProperty(globalThis, name, fixed);
  for (const owner of [
    JSON,
    Promise,
    Promise.prototype,
    Object,
    Array,
    Date,
    Reflect,
    Number,
    String,
    Symbol,
  ])
    for (const key of Reflect.ownKeys(owner)) {
      const found = Object.getOwnPropertyDescriptor(owner, key);
      if (found?.writable === true && found.configurable === true && key !== 'constructor')
        Object.defineProperty(owner, key, fixed);
    }
  // Nobody can write it, so it takes nothing from anybody.
  for (const owner of [Map.prototype, Set.prototype])
    Object.defineProperty(owner, 'size', { configurable: false });
  // A key added here would be in every object of the thread.
  Object.preventExtensions(Object.prototype);
}
