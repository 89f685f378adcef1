/**
 * The stream mode `messages`: every message as it grows, and once more when it stands in the state. `messages-tuple`
 * sends the pieces instead, so both can be asked for at once.
 */
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Frame } from '../port.ts';
import { toWire } from '../wire.ts';

export interface Accumulated {
  /**
   * A piece that a call of a model streamed: what the message looks like with it, after its metadata the first time.
   * All pieces of a call are one message with the id of its first piece, as it gets into the state: providers leave
   * the id out of some pieces, and the library makes up one for those.
   */
  streamed(callId: string, piece: unknown, metadata: () => Json): readonly Frame[];
  /**
   * The graph's values: those of their messages that were not complete before, in one frame. Those of which no piece
   * was streamed come after their metadata, `ofRun`.
   */
  completed(values: unknown, ofRun: () => Json): readonly Frame[];
}

interface Piece {
  readonly id?: string;
  concat?(next: unknown): Piece;
}

export function openAccumulated(): Accumulated {
  /** Pieces joined so far; the key is the model call. */
  const growing = new Map<string, Piece>();
  const done = new Set<string>();
  /** Ids of messages whose metadata was sent. */
  const described = new Set<string>();
  return {
    streamed(callId, given, metadata) {
      const piece = given as Piece | undefined;
      if (typeof piece?.id !== 'string') return [];
      const before = growing.get(callId);
      const now = before?.concat?.(piece) ?? piece;
      const id = before?.id ?? piece.id;
      growing.set(callId, now);
      const partial = frame('messages/partial', [{ ...(toWire(now) as JsonObject), id }]);
      described.add(id);
      return before === undefined
        ? [frame('messages/metadata', { [id]: { metadata: metadata() } }), partial]
        : [partial];
    },
    completed(values, ofRun) {
      const fresh = messagesOf(values).filter(({ id }) => typeof id === 'string' && !done.has(id));
      for (const { id } of fresh) done.add(id!);
      for (const [callId, { id }] of growing) if (id !== undefined && done.has(id)) growing.delete(callId);
      const whole = fresh.flatMap(({ id }) =>
        described.has(id!) ? [] : [[id!, { metadata: ofRun() }] as const],
      );
      return [
        ...(whole.length > 0 ? [frame('messages/metadata', Object.fromEntries(whole))] : []),
        ...(fresh.length > 0 ? [frame('messages/complete', fresh.map(toWire))] : []),
      ];
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
