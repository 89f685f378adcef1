/** Messages of a state, and the unfinished ones behind them. */
import type { Json, JsonObject } from '../api/types.ts';
import { textOf, type Partial } from './live.ts';
import { isObject } from './words.ts';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

export interface Message {
  readonly key: string;
  readonly role: string;
  readonly name: string;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** The tool failed. */
  readonly isFailed: boolean;
  readonly answers: string | undefined;
  readonly isLive: boolean;
  readonly raw: Json;
}

/** The channel that holds messages: `messages`, or the only list of objects with a type or role. */
export function messagesIn(values: Json | undefined): readonly Message[] | undefined {
  if (!isObject(values)) return undefined;
  const named = (values as JsonObject)['messages'];
  if (!Array.isArray(named)) return undefined;
  return (named as readonly Json[]).flatMap((raw, at) =>
    isObject(raw) ? [toMessage(raw as JsonObject, at)] : [],
  );
}

function toMessage(raw: JsonObject, at: number): Message {
  const role = String(raw['type'] ?? raw['role'] ?? 'message');
  const calls = Array.isArray(raw['tool_calls']) ? (raw['tool_calls'] as readonly JsonObject[]) : [];
  return {
    key: typeof raw['id'] === 'string' ? raw['id'] : `at ${at}`,
    role: role === 'user' ? 'human' : role === 'assistant' ? 'ai' : role,
    name: typeof raw['name'] === 'string' ? raw['name'] : '',
    text: textOf(raw['content']),
    calls: calls.map((call) => ({
      id: String(call['id'] ?? ''),
      name: String(call['name'] ?? ''),
      args: JSON.stringify(call['args'] ?? {}),
    })),
    isFailed: raw['status'] === 'error',
    answers: typeof raw['tool_call_id'] === 'string' ? raw['tool_call_id'] : undefined,
    isLive: false,
    raw,
  };
}

/** Unfinished messages that the state does not have yet. */
export const withLive = (messages: readonly Message[], partials: readonly Partial[]): readonly Message[] => {
  const known = new Set(messages.map(({ key }) => key));
  return [
    ...messages,
    ...partials
      .filter(({ id, text, calls }) => !known.has(id) && (text !== '' || calls.length > 0))
      .map(({ id, role, text, node, calls }): Message => ({
        key: id,
        role,
        name: node,
        text,
        calls: calls.map(({ name, args }, at) => ({ id: `${at}`, name, args })),
        isFailed: false,
        answers: undefined,
        isLive: true,
        raw: text,
      })),
  ];
};
