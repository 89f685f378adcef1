/**
 * Which files the next worker loads. X4 A module may hold its thread or end it when it is loaded again, and nobody is
 * left to say which one it was. So after a worker that did not come up the next ones load a half of its files each, and
 * so on, until one comes up. From then on a worker with a place to fill loads what is proven, and the rest is tried
 * in workers that nobody depends on.
 */
import type { GraphSpec } from '../loader.ts';
import type { GraphWorker } from './graph-worker.ts';

export interface LoadPlan {
  /** For the next worker: one with a place to fill, or one that is only tried. */
  next(isTrial: boolean): readonly GraphSpec[];
  /** It has just been started with them. */
  watch(graphs: readonly GraphSpec[], worker: Pick<GraphWorker, 'loaded' | 'ended'>): void;
}

const LEFT_OUT = 'it was left out, because a worker that loads its file does not come up';

export function createLoadPlan(graphs: readonly GraphSpec[]): LoadPlan {
  /** Files that workers come up with. */
  const proven = new Set(graphs.map(({ file }) => file));
  /** The others, in the order in which they are tried. */
  let groups: readonly (readonly string[])[] = [];

  const withoutGroups = (files: readonly string[]): void => {
    const rest = groups.map((group) => group.filter((file) => !files.includes(file)));
    groups = rest.filter((group) => group.length > 0);
  };

  function fail(loaded: readonly string[]): void {
    const unproven = loaded.filter((file) => !proven.has(file));
    const suspects = unproven.length > 0 ? unproven : loaded;
    if (suspects.length === 0) return;
    for (const file of suspects) proven.delete(file);
    withoutGroups(suspects);
    const half = Math.ceil(suspects.length / 2);
    groups =
      suspects.length === 1
        ? [...groups, suspects]
        : [suspects.slice(0, half), suspects.slice(half), ...groups];
  }

  function succeed(loaded: readonly string[]): void {
    for (const file of loaded) proven.add(file);
    withoutGroups(loaded);
  }

  return {
    next(isTrial) {
      const more = isTrial || proven.size === 0 ? (groups[0] ?? []) : [];
      const isLoaded = ({ file }: GraphSpec): boolean => proven.has(file) || more.includes(file);
      return graphs.map((spec) => (isLoaded(spec) ? spec : { ...spec, leftOut: LEFT_OUT }));
    },
    watch(specs, worker) {
      const loaded = specs.flatMap(({ file, leftOut }) => (leftOut === undefined ? [file] : []));
      const files = [...new Set(loaded)];
      worker.loaded.then(
        () => succeed(files),
        async () => {
          // One that is not needed any more is ended by others.
          if ((await worker.ended).by === 'itself') fail(files);
        },
      );
    },
  };
}
