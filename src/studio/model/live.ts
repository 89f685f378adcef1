/** Streamed content that no checkpoint has yet: unfinished messages, and values that graph code writes. */
import { signal } from '@preact/signals';
import type { ServerEvent } from '../api/follow.ts';
import type { Json } from '../api/types.ts';
import { isObject } from './words.ts';

export interface Partial {
  readonly id: string;
  readonly role: string;
  readonly node: string;
  text: string;
  /** Argument text of unfinished tool calls, by index. */
  readonly calls: { name: string; args: string }[];
}

export interface Live {
  /** Unfinished messages in the order in which they began. */
  readonly partials: { readonly value: readonly Partial[] };
  /** Texts that graph code wrote, joined; other values one a line. */
  readonly written: { readonly value: string };
  take(events: readonly ServerEvent[]): void;
  clear(): void;
}

type Chunk = Readonly<Record<string, Json>>;

export function openLive(): Live {
  const partials = signal<readonly Partial[]>([]);
  const written = signal('');
  const byId = new Map<string, Partial>();
  let text = '';
  let frame = 0;

  /** Shows at most one state for each picture of the screen, however many tokens arrive. */
  function show(): void {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      partials.value = [...byId.values()];
      written.value = text;
    });
  }

  function takeChunk(chunk: Chunk, node: string): void {
    const id = typeof chunk['id'] === 'string' ? chunk['id'] : `of ${node}`;
    const type = String(chunk['type'] ?? '');
    const known = byId.get(id);
    const isChunk = type.endsWith('Chunk');
    const partial = known ?? { id, node, role: roleOf(type), text: '', calls: [] };
    if (!isChunk) [partial.text, partial.calls.length] = ['', 0];
    partial.text += textOf(chunk['content']);
    takeCalls(partial, isChunk ? chunk['tool_call_chunks'] : chunk['tool_calls']);
    byId.set(id, partial);
  }

  function takeCalls({ calls }: Partial, chunks: Json | undefined): void {
    if (!Array.isArray(chunks)) return;
    for (const [at, given] of (chunks as readonly Json[]).entries()) {
      if (!isObject(given)) continue;
      const { name, args, index } = given as { name?: string; args?: Json; index?: number };
      const call = (calls[index ?? at] ??= { name: '', args: '' });
      call.name ||= name ?? '';
      call.args += typeof args === 'string' ? args : args === undefined ? '' : JSON.stringify(args);
    }
  }

  function take({ event, data }: ServerEvent): void {
    const [mode] = event.split('|');
    const isRead =
      mode === 'messages' || mode === 'messages/partial' || mode === 'custom' || mode === 'metadata';
    if (!isRead) return;
    const parsed = JSON.parse(data) as Json;
    if (mode === 'messages' && Array.isArray(parsed)) {
      const [chunk, about] = parsed as readonly Json[];
      if (isObject(chunk)) takeChunk(chunk, isObject(about) ? String(about['langgraph_node'] ?? '') : '');
    } else if (mode === 'messages/partial' && Array.isArray(parsed)) {
      for (const message of parsed as readonly Json[])
        if (isObject(message))
          takeChunk({ ...(message as Chunk), type: roleOf(String(message['type'])) }, '');
    } else if (mode === 'custom') text += writtenText(parsed);
    else if (mode === 'metadata') clear();
  }

  function clear(): void {
    byId.clear();
    text = '';
  }

  return {
    partials,
    written,
    take(events) {
      events.forEach(take);
      show();
    },
    clear() {
      clear();
      show();
    },
  };
}

const roleOf = (type: string): string =>
  ({
    AIMessageChunk: 'ai',
    AIMessage: 'ai',
    ToolMessage: 'tool',
    HumanMessage: 'human',
    SystemMessage: 'system',
  })[type] ?? type;

/** Text of a message's content: a text, or parts. */
export function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content))
    return content === undefined || content === null ? '' : JSON.stringify(content);
  return (content as readonly Json[])
    .map((part) =>
      typeof part === 'string'
        ? part
        : isObject(part) && typeof part['text'] === 'string'
          ? part['text']
          : '',
    )
    .join('');
}

/** Words that a graph writes one by one read as a text. */
function writtenText(value: Json): string {
  if (typeof value === 'string') return value;
  const members = isObject(value) ? Object.values(value) : [];
  return members.length === 1 && typeof members[0] === 'string' ? members[0] : `${JSON.stringify(value)}\n`;
}
