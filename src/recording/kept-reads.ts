/**
 * X7 What the tasks of a run read from the item store: a later attempt reads the same until its first new call, although the
 * run has written since. Writes are made again.
 */
import type { Json, JsonObject } from '../kernel/json.ts';
import type { TaskKey } from './parts.ts';

export type Read = readonly [task: TaskKey, request: string, answer: Json];

export type Ask<R, A> = (requests: readonly R[]) => Promise<readonly A[]>;

export interface KeptReads {
  /** Answers a batch of operations, by `ask` where nothing was kept. `taskOf`: empty outside of tasks. */
  batch<R extends object, A>(
    requests: readonly R[],
    taskOf: (request: R) => TaskKey,
    ask: Ask<R, A>,
  ): Promise<A[]>;
  /** Returns what was read since the last call. */
  take(): readonly Read[];
}

export function openKeptReads(earlier: readonly Read[]): KeptReads {
  const kept = new Map<string, Json[]>();
  for (const [task, request, answer] of earlier) {
    const key = keyOf(task, request);
    kept.set(key, [...(kept.get(key) ?? []), answer]);
  }
  let reads: Read[] = [];

  return {
    async batch(requests, taskOf, ask) {
      const tasks = requests.map((request) => (isRead(request) ? taskOf(request) : ''));
      const found = requests.map((request, at) =>
        tasks[at] === '' ? undefined : kept.get(keyOf(tasks[at]!, JSON.stringify(request)))?.shift(),
      );
      const open = [...found.keys()].filter((at) => found[at] === undefined);
      const answers = open.length === 0 ? [] : await ask(open.map((at) => requests[at]!));
      for (const [index, at] of open.entries()) {
        const answer = (answers[index] ?? null) as unknown as Json;
        found[at] = answer;
        if (tasks[at] !== '') reads.push([tasks[at]!, JSON.stringify(requests[at]), answer]);
      }
      return found as unknown as (typeof answers)[number][];
    },
    take() {
      const taken = reads;
      reads = [];
      return taken;
    },
  };
}

const keyOf = (task: TaskKey, request: string): string => `${task}\n${request}`;

const isRead = (request: object): boolean => {
  const { kind } = request as JsonObject;
  return kind === 'get' || kind === 'search' || kind === 'namespaces';
};
