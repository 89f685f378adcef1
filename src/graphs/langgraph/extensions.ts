/**
 * Runs an author's stream transformers (`compile({ transformers })`, from langgraph 1.3) for the stream protocol, as the
 * library runs them only in `streamEvents`: the chunks of this stream are fed into the library's run stream. Output to a
 * named channel becomes a `custom` frame `{name, payload}`.
 */
import type { Reviver } from '../codec.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import type { RunOrder } from '../port.ts';
import type { Chunk } from '../transformers.ts';
import { toWire } from '../wire.ts';

export interface Extensions {
  readonly modes: readonly string[];
  feed(chunk: Chunk): void;
  /** Resolves when all fed chunks are processed; rejects with a transformer's error. */
  end(): Promise<void>;
}

const CHANNEL_PREFIX = 'custom:';

export function openExtensions(
  { streamTransformers = [] }: CompiledGraph,
  { transformers }: Reviver,
  order: RunOrder,
  push: (event: string, data: string) => void,
): Extensions | undefined {
  if (transformers === undefined || streamTransformers.length === 0 || order.protocolFrames !== true)
    return undefined;
  const source = openSource();
  const events = transformers.open(streamTransformers, source);
  if (events === undefined) return undefined;
  const finished = (async (): Promise<void> => {
    for await (const { method, params } of events) {
      const { namespace, data } = params;
      const emit = (content: unknown): void =>
        push(['custom', ...namespace].join('|'), JSON.stringify(toWire(content)));
      if (method.startsWith(CHANNEL_PREFIX))
        emit({ name: method.slice(CHANNEL_PREFIX.length), payload: data });
      // The run stream repeats custom chunks of nodes, which are skipped; the rest are transformer results.
      else if (method === 'custom' && !source.has(data) && isNamed(data)) emit(data);
    }
  })();
  // Avoids an unhandled rejection; `end` reports the transformer's error.
  finished.catch(() => undefined);
  return {
    modes: transformers.modes,
    feed: source.feed,
    async end() {
      source.end();
      await finished;
    },
  };
}

const isNamed = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && 'name' in data && 'payload' in data;

/** An async iterable of the fed chunks, for the library to read. */
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
