/** Converts the chunks and events of the runtime to frames. */
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { chunkType, isMessage } from '../message-form.ts';
import { formOf, libraryModesOf, type ChunkForm } from '../../protocol/stream-modes.ts';
import type { SubgraphFrames } from '../../protocol/subgraph-frames.ts';
import type { Frame, RunOrder } from '../port.ts';
import { publicMetadata } from '../private-keys.ts';
import { HIDDEN_TAG, INTERRUPT } from '../state-port.ts';
import type { Chunk } from '../transformers.ts';
import { toWire } from '../wire.ts';
import { openAccumulated } from './accumulated-messages.ts';
import { createDebugForm } from './debug-form.ts';

/** Makes frames for the stream modes that the client requested. */
export interface FrameMaker {
  /** Handles a chunk of `graph.stream`: `[mode, payload]`, or `[namespace, mode, payload]` if subgraphs are streamed. */
  chunk(chunk: unknown): readonly Frame[];
  /** Handles an event of `graph.streamEvents`; the root graph's chunks are inside `on_chain_stream` events. */
  event(event: unknown): readonly Frame[];
  /** The last state chunk of the root graph; undefined if the runtime does not stream states. */
  readonly shown: unknown;
}

interface RunnableEvent {
  readonly event?: string;
  readonly run_id?: string;
  readonly tags?: readonly string[];
  readonly metadata?: unknown;
  readonly data?: { readonly chunk?: unknown };
}

export interface FrameOptions {
  /** The metadata of the run's checkpoints. */
  readonly metadata: JsonObject;
  /** Makes the `lifecycle` frames; set only if the runtime streams subgraphs. */
  readonly lifecycle: SubgraphFrames | undefined;
  /** Called with every chunk of the runtime, including those without a frame. */
  readonly onChunk: ((chunk: Chunk) => void) | undefined;
}

export function createFrameMaker(order: RunOrder, options: FrameOptions): FrameMaker {
  const wanted = new Set(libraryModesOf(order.streamModes));
  const wantsEvents = order.streamModes.includes('events');
  const accumulated = order.streamModes.includes('messages') ? openAccumulated() : undefined;
  let shown: unknown;
  const debug = createDebugForm(order, options.metadata);

  const withPublicMetadata = (wire: Json): Json =>
    isObject(wire) ? publicMetadata(wire, order.config) : wire;

  const ofRun = (): Json => publicMetadata(options.metadata, order.config);

  const toData: Record<ChunkForm, (payload: unknown) => Json> = {
    message(payload) {
      const [message, metadata] = payload as [unknown, unknown];
      return [toMessageChunk(message), withPublicMetadata(toWire(metadata))];
    },
    debug: debug.entry,
    task: debug.task,
    checkpoint: debug.checkpoint,
  };
  const toFrame = (namespace: readonly string[], mode: string, payload: unknown): Frame => {
    const form = formOf(mode);
    const data = form === undefined ? toWire(payload) : toData[form](payload);
    return { event: [mode, ...namespace].join('|'), data: JSON.stringify(data) };
  };

  const chunk = (value: unknown): readonly Frame[] => {
    const all = order.streamSubgraphs ? (value as Chunk) : ([[], ...(value as [string, unknown])] as const);
    options.onChunk?.(all);
    const { lifecycle } = options;
    if (lifecycle === undefined) return framesOf(all);
    const [namespace, mode, payload] = all;
    return [
      ...lifecycle.before(namespace, mode),
      ...framesOf(all),
      ...lifecycle.after(namespace, mode, payload),
    ];
  };

  /**
   * Adds the state to a question: clients that take the last `values` frame for the run's result would lose it.
   * Protocol events carry interrupts apart from states.
   */
  const withState = (payload: unknown): unknown =>
    isQuestion(payload) && order.protocolFrames !== true && typeof shown === 'object' && shown !== null
      ? { ...shown, ...payload }
      : payload;

  const framesOf = ([namespace, mode, payload]: Chunk): Frame[] => {
    if (mode === 'checkpoints' && !wanted.has(mode))
      return order.protocolFrames === true
        ? [{ event: [mode, ...namespace].join('|'), data: JSON.stringify(toWire(payload)) }]
        : [];
    const content = mode === 'values' && namespace.length === 0 ? withState(payload) : payload;
    const frames = wanted.has(mode) ? [toFrame(namespace, mode, content)] : [];
    if (mode === 'values' && namespace.length === 0) {
      if (!isInterrupt(payload)) shown = payload;
      frames.push(...(accumulated?.completed(payload, ofRun) ?? []));
    }
    return frames;
  };

  return {
    chunk,
    get shown() {
      return shown;
    },
    event(value) {
      const { event, run_id: runId, tags, data, metadata: about } = value as RunnableEvent;
      if (tags?.includes(HIDDEN_TAG)) return [];
      if (event === 'on_chain_stream') {
        if (runId === order.runId) return chunk(data?.chunk);
        if (order.streamSubgraphs) return [];
      }
      const isShown = event === 'on_chat_model_stream' && !tags?.includes('nostream');
      const partial = isShown
        ? accumulated?.streamed(runId ?? '', data?.chunk, () => withPublicMetadata(toWire(about)))
        : undefined;
      if (!wantsEvents) return partial ?? [];
      const wire = toWire(value) as JsonObject;
      const raw = { ...wire, metadata: withPublicMetadata(wire['metadata'] ?? {}) };
      return [{ event: 'events', data: JSON.stringify(raw) }, ...(partial ?? [])];
    },
  };
}

/** True for an interrupt, which the runtime streams in the mode `values` in place of a state. */
const isInterrupt = (payload: unknown): payload is { readonly [INTERRUPT]: unknown } =>
  typeof payload === 'object' && payload !== null && INTERRUPT in payload;

/** False for a breakpoint, whose list of interrupts is empty. */
const isQuestion = (payload: unknown): payload is object =>
  isInterrupt(payload) && Array.isArray(payload[INTERRUPT]) && payload[INTERRUPT].length > 0;

/** Message chunks keep their class name as `type`, by which clients know to append them. */
function toMessageChunk(message: unknown): Json {
  const wire = toWire(message);
  const type = typeof message === 'object' && message !== null && isMessage(message) && chunkType(message);
  return isObject(wire) && typeof type === 'string' ? { ...wire, type } : wire;
}
