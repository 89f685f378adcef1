/**
 * The stream mode `messages`: each message accumulated with every chunk, and once more when it is in the state. The mode
 * `messages-tuple` sends the chunks instead; a run may have both.
 */
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Frame } from '../port.ts';
import { toWire } from '../wire.ts';

export interface Accumulated {
  /**
   * The frames for a chunk of a model call: the message so far, preceded by its metadata the first time. All chunks of a
   * call form one message with the first chunk's id, which is also its id in the state. Providers omit the id in some
   * chunks, for which the library generates another.
   */
  streamed(callId: string, piece: unknown, metadata: () => Json): readonly Frame[];
  /**
   * The frames for new values of the graph: one with the messages that are complete for the first time. Messages that
   * were not streamed are preceded by a frame with their metadata, `ofRun`.
   */
  completed(values: unknown, ofRun: () => Json): readonly Frame[];
}

interface Piece {
  readonly id?: string;
  concat?(next: unknown): Piece;
}

export function openAccumulated(): Accumulated {
  /** Accumulated messages by model call. */
  const growing = new Map<string, Piece>();
  const done = new Set<string>();
  /** Ids of the messages whose metadata has been sent. */
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
