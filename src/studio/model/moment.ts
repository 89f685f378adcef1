/**
 * The state at the version that is looked at, and what changed since the step before or another version. States of versions
 * never change, so they are kept; while the slider moves only the last version that it passes is read.
 */
import { computed, effect, signal, type ReadonlySignal } from '@preact/signals';
import { ApiError, sentenceOf } from '../api/http.ts';
import { stateAt, type VersionState } from '../api/states.ts';
import { query } from './route.ts';
import { isRootStep } from './telling.ts';
import type { OpenThread } from './thread.ts';

export interface Moment {
  /** The last state that has arrived; the page keeps it until the next one is there. */
  readonly state: ReadonlySignal<VersionState | undefined>;
  /** Versions of the facts that wrote the values, by name; empty until the reader rests. */
  readonly written: ReadonlySignal<ReadonlyMap<string, number>>;
  readonly problem: ReadonlySignal<string | undefined>;
  close(): void;
}

const MAX_KEPT = 60;
/** The history of all values is read when a version is looked at for this long. */
const REST_MS = 250;

export function openMoment(open: OpenThread): Moment {
  const kept = new Map<string, VersionState>();
  const state = signal<VersionState | undefined>(undefined);
  const origins = signal<VersionState | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  let reading = new AbortController();
  let rest: ReturnType<typeof setTimeout> | undefined;

  async function load(version: number, from: number | undefined, stop: AbortSignal): Promise<VersionState> {
    const key = `${version} ${from ?? ''}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const found = await stateAt(open.id, version, { from, signal: stop });
    kept.set(key, found);
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
    return found;
  }

  async function read(version: number, from: number | undefined): Promise<void> {
    reading.abort();
    clearTimeout(rest);
    const { signal: stop } = (reading = new AbortController());
    try {
      const found = await load(version, from, stop);
      if (stop.aborted) return;
      state.value = found;
      problem.value = undefined;
      rest = setTimeout(() => {
        load(version, 0, stop).then(
          (all) => void (!stop.aborted && (origins.value = all)),
          // The page does without.
          () => undefined,
        );
      }, REST_MS);
    } catch (error) {
      if (stop.aborted) return;
      problem.value =
        error instanceof ApiError && error.status === 404
          ? 'The state of this version is gone.'
          : sentenceOf(error);
    }
  }

  /** The version before the one that saved what the thread has now. */
  function stepBefore(version: number): number {
    const saved = open.story.nearest(version + 1, -1, isRootStep);
    return (saved?.version ?? version) - 1;
  }

  const stop = effect(() => {
    void open.story.arrivals.value;
    const version = open.version.value;
    const asked = Number(query('from') ?? NaN);
    // A connection that comes back reads again what failed.
    void (open.connection.value === 'live');
    if (version === 0 || open.story.at(version) === undefined) return;
    void read(version, asked >= 0 && asked <= version ? Math.floor(asked) : stepBefore(version));
  });
  const written = computed(
    () =>
      new Map(
        (origins.value?.version === state.value?.version ? (origins.value?.changes ?? []) : []).map(
          ({ path, version }) => [nameOf(path), version],
        ),
      ),
  );
  return {
    state,
    written,
    problem,
    close() {
      stop();
      reading.abort();
      clearTimeout(rest);
    },
  };
}

const unescape = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

/** First member of a JSON Pointer. */
const nameOf = (pointer: string): string => unescape(pointer.split('/')[1] ?? '');

/** A JSON Pointer as code: `/messages/4/content` is `messages[4].content`. */
export const placeOf = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map(unescape)
    .map((part, at) => (/^\d+$/.test(part) ? `[${part}]` : at === 0 ? part : `.${part}`))
    .join('') || 'values';
