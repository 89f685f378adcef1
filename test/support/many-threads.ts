import type { Saver, SaverConfig } from '../../src/graphs/langgraph/saver-contract.ts';

/** One saver for many threads, as the library's validation suite wants it; ours serves one. */
export function manyThreads(
  open: (threadId: string) => Saver,
  forget: (threadId: string) => Promise<void> = async () => undefined,
) {
  const savers = new Map<string, Saver>();
  const of = (config: SaverConfig): Saver => {
    const id = config.configurable?.thread_id;
    if (id === undefined) throw new Error('thread_id is missing');
    const saver = savers.get(id) ?? open(id);
    savers.set(id, saver);
    return saver;
  };
  return {
    get: (config: SaverConfig) => of(config).get(config),
    getTuple: async (config: SaverConfig) =>
      config.configurable?.thread_id === undefined ? undefined : of(config).getTuple(config),
    put: (...args: Parameters<Saver['put']>) => of(args[0]).put(...args),
    putWrites: (...args: Parameters<Saver['putWrites']>) => of(args[0]).putWrites(...args),
    getDeltaChannelHistory: (options: Parameters<Saver['getDeltaChannelHistory']>[0]) =>
      of(options.config).getDeltaChannelHistory(options),
    async *list(...[config, options]: Parameters<Saver['list']>) {
      const wanted = config.configurable?.thread_id;
      const threads = wanted === undefined ? [...savers.keys()] : [wanted];
      let left = options?.limit ?? Number.POSITIVE_INFINITY;
      for (const id of threads) {
        const place = { configurable: { ...config.configurable, thread_id: id } };
        for await (const tuple of of(place).list(place, options)) if (left-- > 0) yield tuple;
      }
    },
    async deleteThread(id: string) {
      savers.delete(id);
      await forget(id);
    },
  };
}
