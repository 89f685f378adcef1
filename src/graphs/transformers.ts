/** Runs an author's stream transformers with the user's own copy of the library. */
export type Chunk = readonly [namespace: readonly string[], mode: string, payload: unknown];

/** Runs transformers, in the user's copy of the library. */
export interface TransformerRun {
  /** What the runtime has to stream for them, of all subgraphs. */
  readonly modes: readonly string[];
  /** Those that are not the library's own; undefined if there is none. */
  open(factories: readonly unknown[], source: AsyncIterable<Chunk>): AsyncIterable<ChannelEvent> | undefined;
}

interface ChannelEvent {
  readonly method: string;
  readonly params: { readonly namespace: readonly string[]; readonly data: unknown };
}

type Transformer = object;
type RunStream = (source: AsyncIterable<Chunk>, transformers: (() => Transformer)[]) => AsyncIterable<never>;

/** Empty where this version of the library has none. */
export function transformersOf({
  createGraphRunStream: open,
  isNativeTransformer: isNative,
  STREAM_EVENTS_V3_MODES: modes,
}: Record<string, unknown>): { readonly transformers?: TransformerRun } {
  if (typeof open !== 'function' || typeof isNative !== 'function' || !Array.isArray(modes)) return {};
  return {
    transformers: {
      modes: modes as string[],
      open(factories, source) {
        const own = (factories as (() => Transformer)[])
          .map((make) => make())
          .filter((transformer) => isNative(transformer) !== true);
        return own.length === 0
          ? undefined
          : (open as RunStream)(
              source,
              own.map((transformer) => () => transformer),
            );
      },
    },
  };
}
