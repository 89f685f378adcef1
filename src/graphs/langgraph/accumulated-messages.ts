/**
 * The stream mode `messages`: every message as it grows, and once more when it stands in the state. `messages-tuple`
 * sends the pieces instead, so both can be asked for at once.
 */
import type { Json } from '../../kernel/json.ts';
import type { Frame } from '../port.ts';
import { toWire } from '../wire.ts';

export interface Accumulated {
  /** A piece that a model streamed: what the message looks like with it, after its metadata the first time. */
  streamed(piece: unknown, metadata: () => Json): readonly Frame[];
  /** The graph's values: those of their messages that were not complete before, in one frame. */
  completed(values: unknown): readonly Frame[];
}

interface Piece {
  readonly id?: string;
  concat?(next: unknown): Piece;
}

export function openAccumulated(): Accumulated {
  const growing = new Map<string, Piece>();
  const done = new Set<string>();
  return {
    streamed(given, metadata) {
      const piece = given as Piece | undefined;
      const id = piece?.id;
      if (piece === undefined || typeof id !== 'string') return [];
      const before = growing.get(id);
      const now = before?.concat?.(piece) ?? piece;
      growing.set(id, now);
      const partial = frame('messages/partial', [toWire(now)]);
      return before === undefined
        ? [frame('messages/metadata', { [id]: { metadata: metadata() } }), partial]
        : [partial];
    },
    completed(values) {
      const fresh = messagesOf(values).filter(({ id }) => typeof id === 'string' && !done.has(id));
      for (const { id } of fresh) {
        done.add(id!);
        growing.delete(id!);
      }
      return fresh.length === 0 ? [] : [frame('messages/complete', fresh.map(toWire))];
    },
  };
}

function messagesOf(values: unknown): readonly { id?: string }[] {
  const messages =
    typeof values === 'object' && values !== null ? (values as { messages?: unknown }).messages : undefined;
  const list = Array.isArray(messages) ? (messages as unknown[]) : [messages];
  return list.filter((each): each is { id?: string } => typeof each === 'object' && each !== null);
}

const frame = (event: string, data: Json): Frame => ({ event, data: JSON.stringify(data) });
