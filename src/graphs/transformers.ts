/** Runs an author's stream transformers with the user's own copy of the library. */
export type Chunk = readonly [namespace: readonly string[], mode: string, payload: unknown];

export interface TransformerRun {
  /** The stream modes that transformers need, including subgraphs. */
  readonly modes: readonly string[];
  /** Runs the transformers that are not built into the library; undefined if there are none. */
  open(factories: readonly unknown[], source: AsyncIterable<Chunk>): AsyncIterable<ChannelEvent> | undefined;
}

interface ChannelEvent {
  readonly method: string;
  readonly params: { readonly namespace: readonly string[]; readonly data: unknown };
}

type Transformer = object;
type RunStream = (source: AsyncIterable<Chunk>, transformers: (() => Transformer)[]) => AsyncIterable<never>;

/** Returns `{}` if this version of the library has no stream transformers. */
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
