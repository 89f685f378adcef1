/** Threads, newest first: one list for the column beside a thread and for the page of threads. */
import { computed, signal } from '@preact/signals';
import { sentenceOf, Unreachable } from '../api/http.ts';
import { countThreads, searchThreads } from '../api/threads.ts';
import type { Thread } from '../api/types.ts';
import { poll } from './poll.ts';

const PAGE_THREADS = 100;
const MAX_PAGE_THREADS = 1_000;
const MAX_SEARCHED_THREADS = 20_000;

/** Sparse: pages are loaded where the list is looked at. */
const rows = signal<ReadonlyMap<number, Thread>>(new Map());
export const total = signal(0);
export const searchText = signal('');
export const isFailedOnly = signal(false);
export const listProblem = signal<string | undefined>(undefined);
export const isListLoaded = signal(false);
/** Milliseconds since 1970, renewed with each poll, for ages. */
export const now = signal(new Date().getTime());

export const threadAt = (index: number): Thread | undefined => rows.value.get(index);
export const newest = computed(() => rows.value.get(0));

let generation = 0;
let wanted: readonly [from: number, to: number] = [0, PAGE_THREADS];

const status = () => (isFailedOnly.peek() ? ('error' as const) : undefined);

async function loadPage(from: number, own: number): Promise<void> {
  const [found, count] = await Promise.all([
    searchThreads({ limit: PAGE_THREADS, offset: from, status: status() }),
    countThreads(status()),
  ]);
  if (own !== generation) return;
  const next = new Map(rows.peek());
  for (let at = 0; at < PAGE_THREADS; at++) {
    const thread = found[at];
    if (thread === undefined) next.delete(from + at);
    else next.set(from + at, thread);
  }
  rows.value = next;
  total.value = count;
}

/** The API searches by exact members; texts are looked for here, in the newest threads. */
async function loadMatching(text: string, own: number): Promise<void> {
  const matching: Thread[] = [];
  for (let offset = 0; offset < MAX_SEARCHED_THREADS; offset += MAX_PAGE_THREADS) {
    const found = await searchThreads({ limit: MAX_PAGE_THREADS, offset, status: status() });
    if (own !== generation) return;
    matching.push(...found.filter((thread) => matches(thread, text)));
    rows.value = new Map(matching.entries());
    total.value = matching.length;
    if (found.length < MAX_PAGE_THREADS) return;
  }
}

const matches = ({ thread_id: id, title = '', status: of, metadata, error }: Thread, text: string): boolean =>
  `${id} ${title} ${of} ${JSON.stringify(metadata)} ${error?.error ?? ''} ${error?.message ?? ''}`
    .toLowerCase()
    .includes(text);

async function loadWanted(): Promise<void> {
  const own = generation;
  const text = searchText.peek().trim().toLowerCase();
  const pages = new Set(wanted.map((at) => Math.floor(at / PAGE_THREADS) * PAGE_THREADS));
  try {
    if (text === '') await Promise.all([...pages].map((from) => loadPage(from, own)));
    else await loadMatching(text, own);
    if (own === generation) listProblem.value = undefined;
  } catch (error) {
    if (own === generation && !(error instanceof Unreachable)) listProblem.value = sentenceOf(error);
  }
  isListLoaded.value = true;
  now.value = new Date().getTime();
}

/** Rows that are looked at. */
export function want(from: number, to: number): void {
  const before = wanted;
  wanted = [from, to];
  const isNew =
    Math.floor(from / PAGE_THREADS) !== Math.floor(before[0] / PAGE_THREADS) || !rows.peek().has(to);
  if (isNew && to < total.peek() && searchText.peek() === '') void loadWanted();
}

export function search(text: string, failedOnly: boolean): void {
  searchText.value = text;
  isFailedOnly.value = failedOnly;
  generation += 1;
  rows.value = new Map();
  wanted = [0, PAGE_THREADS];
  void loadWanted();
}

export const reload = loadWanted;

/** Keeps the list fresh while the page can be seen. */
export function keepListFresh(): void {
  poll(loadWanted);
  document.addEventListener('visibilitychange', () => void loadWanted());
}
