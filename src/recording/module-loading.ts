/**
 * Readings and draws of modules while they load. A module loads once in a process, in whichever run imports it first, so
 * these belong to the module instead of a task, and every recording of the process has the readings of all modules.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { openRandoms } from './random.ts';
import type { ClockKind, TaskKey } from './parts.ts';

const loading = new AsyncLocalStorage<{ readonly task: TaskKey }>();

/** In place of a task's key, the end of the module's path: the project may lie in another folder when it is re-executed. */
const keyOf = (path: string): TaskKey => {
  const parts = path.split(/[\\/]/);
  const packages = parts.lastIndexOf('node_modules');
  return `module ${parts.slice(packages < 0 ? -3 : packages + 1).join('/')}`;
};

/** The key of the module that loads, in its own code and in what that begins. */
export const loadingModule = (): TaskKey | undefined => loading.getStore()?.task;

/** Runs `work`, which loads a CommonJS module. */
export const whileLoading = <T>(path: string, work: () => T): T => loading.run({ task: keyOf(path) }, work);

const ENTER = '__enterModule';

/** The statement that an ES module begins with. Each module that Node evaluates has one, so it has no counterpart. */
export const enteringStatement = (path: string): string => `${ENTER}(${JSON.stringify(keyOf(path))});`;

/** Defines the function that `enteringStatement` calls. */
export function defineEntering(): void {
  const value = (task: TaskKey): void => loading.enterWith({ task });
  Object.defineProperty(globalThis, ENTER, { value, configurable: true });
}

/** Bounds what code that modules leave running may add. */
const MAX_MODULE_READINGS = 10_000;

const readings: (readonly [task: TaskKey, kind: ClockKind, value: number])[] = [];

/** Readings of the modules of this process, in order. */
export const moduleReadings: readonly (readonly [TaskKey, ClockKind, number])[] = readings;

export function noteModuleReading(task: TaskKey, kind: ClockKind, value: number): number {
  if (readings.length < MAX_MODULE_READINGS) readings.push([task, kind, value]);
  return value;
}

/** Modules that load in recorded runs of this process draw from it. */
export const moduleSeed: string = randomUUID();
export const moduleRandoms = openRandoms(moduleSeed);
