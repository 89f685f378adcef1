/**
 * The open thread: its record, runs and story, and the version that is looked at. Everything on the page is derived from the
 * story, so list and detail cannot disagree. One stream tells that something happened; the facts themselves are read by version.
 */
import { batch, computed, effect, signal, type ReadonlySignal } from '@preact/signals';
import type { Fact } from '../api/facts.ts';
import { follow, type Connection } from '../api/follow.ts';
import { ApiError, openedFile, sentenceOf } from '../api/http.ts';
import { runsOf } from '../api/runs.ts';
import { getThread } from '../api/threads.ts';
import type { Run, Thread } from '../api/types.ts';
import { openLive, type Live } from './live.ts';
import { query, setQuery } from './route.ts';
import { openStory, type Story } from './story.ts';
import { isFailure, isQuiet } from './telling.ts';

export interface OpenThread {
  readonly id: string;
  /** The thread is in an opened file: nothing can be changed or run. */
  readonly isFile: boolean;
  readonly story: Story;
  readonly live: Live;
  readonly thread: ReadonlySignal<Thread | undefined>;
  readonly runs: ReadonlySignal<readonly Run[]>;
  readonly connection: ReadonlySignal<Connection>;
  /** A sentence in place of the page. */
  readonly problem: ReadonlySignal<string | undefined>;
  /** The version that is looked at; 0 before the story has arrived. */
  readonly version: ReadonlySignal<number>;
  /** The address asks for a version that the thread does not have. */
  readonly unknownVersion: ReadonlySignal<string | undefined>;
  /** The page shows the newest facts as they come. */
  readonly follows: ReadonlySignal<boolean>;
  select(version: number): void;
  /** Shows what the page opens with, and follows what comes. */
  release(): void;
  refresh(): Promise<void>;
  close(): void;
}

const MIN_WAKE_MS = 120;
/** Shorter threads are loaded whole, so that all marks of the slider are known. */
const MAX_WHOLE_FACTS = 1_000;

export function openThread(id: string): OpenThread {
  const stop = new AbortController();
  const problem = signal<string | undefined>(undefined);
  const thread = signal<Thread | undefined>(undefined);
  const runs = signal<readonly Run[]>([]);
  const connection = signal<Connection>('connecting');
  const live = openLive();
  const fail = (error: unknown): void => {
    if (stop.signal.aborted) return;
    if (error instanceof ApiError && error.status === 404) problem.value = gone();
    else if (error instanceof ApiError) problem.value = sentenceOf(error);
    else connection.value = 'lost';
  };
  const isFile = openedFile() !== undefined;
  const gone = (): string =>
    isFile
      ? 'This file is no longer open. Drop it on the page again.'
      : thread.peek() === undefined
        ? 'There is no thread with this id, or you may not see it.'
        : 'This thread has been deleted.';
  const story = openStory(id, fail);

  const asked = computed(() => query('v'));
  const focus = computed(() => {
    void story.arrivals.value;
    const head = story.length.value;
    if (thread.value?.status !== 'error') return head;
    for (let at = head; at > 0; at--) {
      const fact = story.at(at);
      if (fact === undefined) break;
      if (isFailure(fact)) return at;
    }
    return head;
  });
  const isKnown = (text: string, length: number): boolean =>
    /^[1-9]\d{0,14}$/.test(text) && Number(text) <= length;
  const unknownVersion = computed(() =>
    asked.value === undefined || story.length.value === 0 || isKnown(asked.value, story.length.value)
      ? undefined
      : asked.value,
  );
  const follows = computed(() => asked.value === undefined || unknownVersion.value !== undefined);
  const version = computed(() => (follows.value ? focus.value : Number(asked.value)));

  async function readRecords(): Promise<void> {
    const [record, list] = await Promise.all([getThread(id), runsOf(id)]);
    batch(() => {
      thread.value = record;
      runs.value = list;
    });
  }

  async function refresh(): Promise<void> {
    const before = story.length.peek();
    try {
      const isFirst = thread.peek() === undefined;
      await Promise.all([story.pull(), isFirst && readRecords()]);
      const came: (Fact | undefined)[] = [];
      for (let at = before + 1; at <= story.length.peek(); at++) came.push(story.at(at));
      const isSettled = came.every((fact) => fact?.type === 'CheckpointSaved');
      if (!isSettled) {
        await readRecords();
        // The records may be newer than the story: it never lags behind them.
        await story.pull();
      }
      if (came.some((fact) => fact?.type === 'RunCompleted')) live.clear();
    } catch (error) {
      fail(error);
    }
  }

  let timer: ReturnType<typeof setTimeout> | undefined;
  const wake = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void refresh();
    }, MIN_WAKE_MS);
  };

  async function start(): Promise<void> {
    await refresh();
    if (stop.signal.aborted || problem.peek() !== undefined) return;
    const length = story.length.peek();
    if (length <= MAX_WHOLE_FACTS) void story.ensure(1, length);
    await follow(`/threads/${id}/stream`, {
      after: `${startOfOpenRun() - 1}-state`,
      query: { stream_modes: 'run_modes' },
      signal: stop.signal,
      onEvents(events) {
        live.take(events);
        wake();
      },
      onBeat: wake,
      onConnection(state) {
        connection.value = state;
        if (state === 'gone') fail(new ApiError(404, ''));
      },
    });
    if (!stop.signal.aborted) await refresh();
  }

  /** Version after which the stream begins: an open run is streamed from its beginning. */
  function startOfOpenRun(): number {
    const open = runs.peek().filter(({ status }) => status === 'pending' || status === 'running');
    const first = open.at(-1);
    const created =
      first &&
      story.nearest(
        story.length.peek() + 1,
        -1,
        (fact) => fact.type === 'RunCreated' && fact.run_id === first.run_id,
      );
    return created?.version ?? story.length.peek() + 1;
  }

  void start().catch(fail);
  // The page around the selected version is loaded, wherever the selection comes from.
  const stopLoading = effect(() => {
    const at = version.value;
    if (at > 0) void story.ensure(at - 20, at + 20);
  });

  return {
    id,
    isFile,
    story,
    live,
    thread,
    runs,
    connection,
    problem,
    version,
    unknownVersion,
    follows,
    select(to) {
      const at = Math.max(1, Math.min(story.length.peek(), to));
      setQuery({ v: at, from: undefined });
    },
    release() {
      // A conversation goes on where it was read; other tabs follow the fact.
      const tab = query('tab') === 'conversation' ? 'conversation' : undefined;
      setQuery({ v: undefined, from: undefined, tab });
    },
    refresh,
    close() {
      stop.abort();
      clearTimeout(timer);
      stopLoading();
    },
  };
}

/** The next fact that says something, for `j` and `k`. */
export function nextTold({ story, version }: OpenThread, step: 1 | -1): number {
  return story.nearest(version.peek(), step, (fact) => !isQuiet(fact))?.version ?? version.peek();
}
