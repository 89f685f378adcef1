/** Converts message content of models and graphs to LangChain's standard content blocks. */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';

const STANDARD_TYPES: ReadonlySet<string> = new Set([
  'text',
  'reasoning',
  'tool_call',
  'tool_call_chunk',
  'invalid_tool_call',
  'server_tool_call',
  'server_tool_call_chunk',
  'server_tool_result',
  'image',
  'audio',
  'video',
  'file',
  'text-plain',
  'non_standard',
]);

/** Wraps a block without a standard type as `non_standard`, unchanged. */
export function toBlock(block: Json): JsonObject {
  if (typeof block === 'string') return { type: 'text', text: block };
  if (!isObject(block)) return { type: 'non_standard', value: block };
  const { type, mimeType, ...rest } = block;
  if (type === 'thinking') {
    const { thinking = '', ...more } = rest;
    return { type: 'reasoning', reasoning: thinking, ...more };
  }
  if (type === 'image_url') return toImage(block);
  if (typeof type !== 'string' || !STANDARD_TYPES.has(type)) return { type: 'non_standard', value: block };
  return { type, ...rest, ...(mimeType !== undefined && { mime_type: mimeType }) };
}

function toImage({ image_url: given, ...block }: JsonObject): JsonObject {
  const url = isObject(given) ? given['url'] : given;
  if (typeof url !== 'string') return { type: 'non_standard', value: { ...block, image_url: given ?? null } };
  const data = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  return data === null ? { type: 'image', url } : { type: 'image', mime_type: data[1]!, base64: data[2]! };
}

/** Returns a `tool_call`, or an `invalid_tool_call` when the arguments are not an object. */
export function toToolCall(call: JsonObject): JsonObject {
  const { id = null, name = null, args } = call;
  const parsed = typeof args === 'string' ? parseArgs(args) : args;
  if (typeof name === 'string' && isObject(parsed)) return { type: 'tool_call', id, name, args: parsed };
  return { type: 'invalid_tool_call', id, name, args: args ?? null, error: 'Malformed args.' };
}

function parseArgs(text: string): Json | undefined {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
