/** Loads the graphs when the server starts, and finds the ones that do not load. */
import type { GraphProblem, GraphSpec } from '../graphs/loader.ts';
import type { GraphWorker } from './worker.ts';

export interface FirstLoad {
  readonly graphs: readonly GraphSpec[];
  /** Gets the graphs that do not load. */
  readonly problems: GraphProblem[];
  readonly start: () => GraphWorker;
  readonly isClosed: () => boolean;
}

/** Loads all graphs. A graph that kills the worker is a problem, and another worker loads the remaining graphs. */
export async function loadAll({ graphs, problems, start, isClosed }: FirstLoad): Promise<void> {
  let remaining = graphs.map(({ id }) => id);
  while (remaining.length > 0 && !isClosed()) {
    const worker = start();
    try {
      const results = await worker.loading.request(remaining);
      problems.push(...results.filter((each) => each !== undefined));
      return;
    } catch (error) {
      const { message } = error as Error;
      const culprit = worker.loading.culprit() ?? remaining[0]!;
      const { file } = graphs.find(({ id }) => id === culprit)!;
      problems.push({ graphId: culprit, file, reason: message, isRetried: true });
      const index = remaining.indexOf(culprit);
      const loaded = remaining.slice(0, index);
      const results = loaded.map((id) => worker.loading.request([id]).catch(() => [undefined]));
      problems.push(...(await Promise.all(results)).flat().filter((each) => each !== undefined));
      remaining = remaining.slice(index + 1);
    }
  }
}
