import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { chunkType, isMessage } from '../message-form.ts';
import type { SubgraphFrames } from '../../protocol/subgraph-frames.ts';
import type { Frame, RunOrder } from '../port.ts';
import { publicMetadata } from '../private-keys.ts';
import { INTERRUPT } from '../state-port.ts';
import type { Chunk } from '../transformers.ts';
import { toWire } from '../wire.ts';
import { openAccumulated } from './accumulated-messages.ts';
import { createDebugForm } from './debug-form.ts';

import { toRuntimeModes } from './invocation.ts';

/** Turns what the runtime yields into frames; none for what the client did not ask for. */
export interface FrameMaker {
  /** A chunk of `graph.stream`: `[mode, payload]`, with the namespace in front when subgraphs are streamed. */
  chunk(chunk: unknown): readonly Frame[];
  /** An event of `graph.streamEvents`; the chunks of the graph itself travel inside such events. */
  event(event: unknown): readonly Frame[];
  /** The state that the graph showed last, if the runtime was asked for states. */
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
  /** Of the run's checkpoints. */
  readonly metadata: JsonObject;
  /** The runtime streams subgraphs, whatever the client asked for. */
  readonly subgraphs: boolean;
  /** Makes the frames of the mode `lifecycle`, where the runtime streams subgraphs. */
  readonly told: SubgraphFrames | undefined;
  /** Told of every chunk of the runtime, also of those that become no frame. */
  readonly onChunk: ((chunk: Chunk) => void) | undefined;
}

export function createFrameMaker(order: RunOrder, options: FrameOptions): FrameMaker {
  const wanted = new Set(toRuntimeModes(order.streamModes));
  const wantsEvents = order.streamModes.includes('events');
  const accumulated = order.streamModes.includes('messages') ? openAccumulated() : undefined;
  let shown: unknown;
  const debug = createDebugForm(order, options.metadata);

  const withPublicMetadata = (wire: Json): Json =>
    isObject(wire) ? publicMetadata(wire, order.config) : wire;

  const ofRun = (): Json => publicMetadata(options.metadata, order.config);

  const toFrame = (namespace: readonly string[], mode: string, payload: unknown): Frame => {
    const frame = (data: Json): Frame => ({
      event: [mode, ...namespace].join('|'),
      data: JSON.stringify(data),
    });
    switch (mode) {
      case 'messages': {
        const [message, metadata] = payload as [unknown, unknown];
        return frame([toMessageChunk(message), withPublicMetadata(toWire(metadata))]);
      }
      case 'debug':
        return frame(debug.entry(payload));
      case 'tasks':
        return frame(debug.task(payload));
      case 'checkpoints':
        return frame(debug.checkpoint(payload));
      default:
        return frame(toWire(payload));
    }
  };

  const chunk = (value: unknown): readonly Frame[] => {
    const all = options.subgraphs ? (value as Chunk) : ([[], ...(value as [string, unknown])] as const);
    options.onChunk?.(all);
    const { told } = options;
    if (told === undefined) return framesOf(all);
    const [namespace, mode, payload] = all;
    return [...told.before(namespace, mode), ...framesOf(all), ...told.after(namespace, mode, payload)];
  };

  const framesOf = ([namespace, mode, payload]: Chunk): Frame[] => {
    if (namespace.length > 0 && !order.streamSubgraphs) return [];
    if (mode === 'checkpoints' && !wanted.has(mode))
      return order.protocolFrames === true
        ? [{ event: [mode, ...namespace].join('|'), data: JSON.stringify(toWire(payload)) }]
        : [];
    const frames = wanted.has(mode) ? [toFrame(namespace, mode, payload)] : [];
    if (mode === 'values' && namespace.length === 0) {
      if (!isQuestion(payload)) shown = payload;
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
      if (tags?.includes('langsmith:hidden')) return [];
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

/** A question is told in the mode of states, in the place of one. */
const isQuestion = (payload: unknown): boolean =>
  typeof payload === 'object' && payload !== null && INTERRUPT in payload;

/** Pieces of a message keep the name of their class, so that clients know to append them. */
function toMessageChunk(message: unknown): Json {
  const wire = toWire(message);
  const type = typeof message === 'object' && message !== null && isMessage(message) && chunkType(message);
  return isObject(wire) && typeof type === 'string' ? { ...wire, type } : wire;
}
