/**
 * Channels that an author's stream transformers fill (`compile({ transformers })`, since langgraph 1.3). The library runs
 * transformers only for its own `streamEvents`, so its public run stream is given what the runtime streams here. What
 * goes into a named channel becomes a frame of the mode `custom`: `{name, payload}`.
 */
import type { Reviver } from '../codec.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import type { RunOrder } from '../port.ts';
import type { Chunk } from '../transformers.ts';
import { toWire } from '../wire.ts';

export interface Extensions {
  readonly modes: readonly string[];
  feed(chunk: Chunk): void;
  /** Resolves when all that was fed has been told. */
  end(): Promise<void>;
}

const CHANNEL = 'custom:';

export function openExtensions(
  { streamTransformers = [] }: CompiledGraph,
  { transformers }: Reviver,
  order: RunOrder,
  push: (event: string, data: string) => void,
): Extensions | undefined {
  if (transformers === undefined || streamTransformers.length === 0 || !order.streamModes.includes('custom'))
    return undefined;
  const source = openSource();
  const events = transformers.open(streamTransformers, source);
  if (events === undefined) return undefined;
  const told = (async (): Promise<void> => {
    for await (const { method, params } of events) {
      const { namespace, data } = params;
      if (namespace.length > 0 && !order.streamSubgraphs) continue;
      const tell = (content: unknown): void =>
        push(['custom', ...namespace].join('|'), JSON.stringify(toWire(content)));
      if (method.startsWith(CHANNEL)) tell({ name: method.slice(CHANNEL.length), payload: data });
      // The run stream passes on what nodes wrote as well; what it adds at the end are results of transformers.
      else if (method === 'custom' && !source.has(data) && isNamed(data)) tell(data);
    }
  })();
  // A transformer that fails is the author's: `end` tells.
  told.catch(() => undefined);
  return {
    modes: transformers.modes,
    feed: source.feed,
    async end() {
      source.end();
      await told;
    },
  };
}

const isNamed = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && 'name' in data && 'payload' in data;

/** What is fed, as the library reads it. */
function openSource() {
  const waiting: Chunk[] = [];
  const payloads = new WeakSet<object>();
  let wake = (): void => undefined;
  let isOver = false;
  return {
    feed(chunk: Chunk): void {
      const [, , payload] = chunk;
      if (typeof payload === 'object' && payload !== null) payloads.add(payload);
      waiting.push(chunk);
      wake();
    },
    end(): void {
      isOver = true;
      wake();
    },
    has: (payload: unknown): boolean =>
      typeof payload === 'object' && payload !== null && payloads.has(payload),
    async *[Symbol.asyncIterator](): AsyncGenerator<Chunk> {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else if (isOver) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
