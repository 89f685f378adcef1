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
  const closing = new AbortController();
  let wanted: readonly [version: number, from: number] | undefined;
  let isReading = false;
  let rest: ReturnType<typeof setTimeout> | undefined;

  async function load(version: number, from: number): Promise<VersionState> {
    const key = `${version} ${from}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const found = await stateAt(open.id, version, { from, signal: closing.signal });
    kept.set(key, found);
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
    return found;
  }

  /** One request at a time; versions that are passed meanwhile are left out. */
  async function read(): Promise<void> {
    if (isReading) return;
    isReading = true;
    while (wanted !== undefined && !closing.signal.aborted) {
      const [version, from] = wanted;
      wanted = undefined;
      try {
        state.value = await load(version, from);
        problem.value = undefined;
      } catch (error) {
        if (closing.signal.aborted) return;
        const isGone = error instanceof ApiError && error.status === 404;
        problem.value = isGone ? 'The state of this version is gone.' : sentenceOf(error);
      }
    }
    isReading = false;
    rest = setTimeout(() => void readOrigins(), REST_MS);
  }

  async function readOrigins(): Promise<void> {
    const version = state.peek()?.version;
    // The page does without when they cannot be read.
    if (version !== undefined) origins.value = await load(version, 0).catch(() => undefined);
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
    clearTimeout(rest);
    wanted = [version, asked >= 0 && asked <= version ? Math.floor(asked) : stepBefore(version)];
    void read();
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
      closing.abort();
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
