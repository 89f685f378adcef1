/**
 * The facts of the open thread, loaded in pages around what is shown. Versions are dense from 1, so a fact's place in the
 * list is known before it is loaded, and a thread of any length opens with its last page alone.
 */
import { signal, type ReadonlySignal } from '@preact/signals';
import { readFacts, type Fact } from '../api/facts.ts';

const PAGE_FACTS = 100;
/** Above any version. */
const BEHIND_ALL = 1e12;

export interface Story {
  readonly threadId: string;
  /** Version of the newest fact. */
  readonly length: ReadonlySignal<number>;
  /** Counts up whenever facts arrive; components that call `at` read it, to be drawn again. */
  readonly arrivals: ReadonlySignal<number>;
  at(version: number): Fact | undefined;
  /** Loads what is missing between two versions; resolves when it is there. */
  ensure(from: number, to: number): Promise<void>;
  /** Loads the newest page, or what came since. */
  pull(): Promise<void>;
  loaded(): Iterable<Fact>;
  /** The nearest loaded fact before or after a version that passes. */
  nearest(version: number, step: 1 | -1, passes: (fact: Fact) => boolean): Fact | undefined;
}

export function openStory(threadId: string, onError: (error: unknown) => void): Story {
  const facts = new Map<number, Fact>();
  const length = signal(0);
  const arrivals = signal(0);
  const loading = new Map<number, Promise<void>>();
  let pulling: Promise<void> | undefined;
  let isAskedAgain = false;

  function keep(page: readonly Fact[], head: number): void {
    for (const fact of page) facts.set(fact.version, fact);
    length.value = Math.max(length.peek(), head, page.at(-1)?.version ?? 0);
    arrivals.value += 1;
  }

  function loadPage(index: number): Promise<void> {
    const known = loading.get(index);
    if (known !== undefined) return known;
    const after = index * PAGE_FACTS;
    const done = readFacts(threadId, { after, limit: PAGE_FACTS })
      .then(({ events, last }) => keep(events, last))
      .catch(onError)
      .finally(() => loading.delete(index));
    loading.set(index, done);
    return done;
  }

  const isMissing = (index: number): boolean => {
    const last = Math.min(length.peek(), (index + 1) * PAGE_FACTS);
    for (let version = index * PAGE_FACTS + 1; version <= last; version++)
      if (!facts.has(version)) return true;
    return false;
  };

  async function readNewest(): Promise<void> {
    const { events, last } = await readFacts(threadId, { before: BEHIND_ALL, limit: PAGE_FACTS });
    keep(events, last);
  }

  async function pullOnce(): Promise<void> {
    if (length.peek() === 0) return readNewest();
    const { events, last } = await readFacts(threadId, { after: length.peek(), limit: PAGE_FACTS });
    if (events.length > 0) keep(events, last);
    // The pages between are loaded when they are shown.
    if (events.length === PAGE_FACTS) await readNewest();
  }

  return {
    threadId,
    length,
    arrivals,
    at: (version) => facts.get(version),
    async ensure(from, to) {
      const first = Math.floor((Math.max(1, from) - 1) / PAGE_FACTS);
      const last = Math.floor((Math.min(length.peek(), to) - 1) / PAGE_FACTS);
      const missing: Promise<void>[] = [];
      for (let index = first; index <= last; index++) if (isMissing(index)) missing.push(loadPage(index));
      await Promise.all(missing);
    },
    pull() {
      if (pulling !== undefined) {
        isAskedAgain = true;
        return pulling;
      }
      const run = async (): Promise<void> => {
        do {
          isAskedAgain = false;
          await pullOnce();
        } while (isAskedAgain);
      };
      pulling = run().finally(() => (pulling = undefined));
      return pulling;
    },
    loaded: () => facts.values(),
    nearest(version, step, passes) {
      for (let at = version + step; at >= 1 && at <= length.peek(); at += step) {
        const fact = facts.get(at);
        if (fact !== undefined && passes(fact)) return fact;
      }
      return undefined;
    },
  };
}
