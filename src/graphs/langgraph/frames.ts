import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { chunkType, isMessage } from '../message-form.ts';
import type { Frame, RunOrder } from '../port.ts';
import { publicMetadata } from '../private-keys.ts';
import { toWire } from '../wire.ts';
import { toRuntimeModes } from './invocation.ts';

/** Turns what the runtime yields into frames; undefined for what the client did not ask for. */
export interface FrameMaker {
  /** A chunk of `graph.stream`: `[mode, payload]`, with the namespace in front when subgraphs are streamed. */
  chunk(chunk: unknown): Frame | undefined;
  /** An event of `graph.streamEvents`; the chunks of the graph itself travel inside such events. */
  event(event: unknown): Frame | undefined;
}

interface RunnableEvent {
  readonly event?: string;
  readonly run_id?: string;
  readonly tags?: readonly string[];
  readonly data?: { readonly chunk?: unknown };
}

export function createFrameMaker(order: RunOrder): FrameMaker {
  const modes = new Set(toRuntimeModes(order.streamModes));
  const wantsEvents = order.streamModes.includes('events');

  const withPublicMetadata = (wire: Json): Json =>
    isObject(wire) ? publicMetadata(wire, order.config) : wire;

  const chunk = (value: unknown): Frame | undefined => {
    const [namespace, mode, payload] = order.streamSubgraphs
      ? (value as [string[], string, unknown])
      : [[], ...(value as [string, unknown])];
    if (!modes.has(mode)) return undefined;
    if (mode !== 'messages') return { event: [mode, ...namespace].join('|'), data: toText(payload) };
    const [message, metadata] = payload as [unknown, unknown];
    // The runtime gives a message the namespace of its node; the graph that the node is part of is one level up.
    return {
      event: [mode, ...namespace.slice(0, -1)].join('|'),
      data: JSON.stringify([toMessageChunk(message), withPublicMetadata(toWire(metadata))]),
    };
  };

  return {
    chunk,
    event(value) {
      const { event, run_id: runId, tags, data } = value as RunnableEvent;
      if (tags?.includes('langsmith:hidden')) return undefined;
      if (event === 'on_chain_stream') {
        if (runId === order.runId) return chunk(data?.chunk);
        if (order.streamSubgraphs) return undefined;
      }
      if (!wantsEvents) return undefined;
      const wire = toWire(value) as JsonObject;
      return {
        event: 'events',
        data: JSON.stringify({ ...wire, metadata: withPublicMetadata(wire['metadata'] ?? {}) }),
      };
    },
  };
}

const toText = (payload: unknown): string => JSON.stringify(toWire(payload));

/** Pieces of a message keep the name of their class, so that clients know to append them. */
function toMessageChunk(message: unknown): Json {
  const wire = toWire(message);
  const type = typeof message === 'object' && message !== null && isMessage(message) && chunkType(message);
  return isObject(wire) && typeof type === 'string' ? { ...wire, type } : wire;
}
