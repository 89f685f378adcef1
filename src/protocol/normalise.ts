/** Converts state to its protocol form: no `__interrupt__` key, and messages in one form for all libraries and providers. */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { toBlock, toToolCall } from './content.ts';

export const INTERRUPT = '__interrupt__';

const TYPES: Record<string, string> = {
  human: 'human',
  user: 'human',
  ai: 'ai',
  assistant: 'ai',
  system: 'system',
  tool: 'tool',
  function: 'function',
  remove: 'remove',
};

export function normalise(value: Json): Json {
  if (Array.isArray(value)) return value.map(normalise);
  if (!isObject(value)) return value;
  if (isMessage(value)) return toMessage(value);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== INTERRUPT)
      .map(([key, each]) => [key, normalise(each)]),
  );
}

const isMessage = ({ type, content, id }: JsonObject): boolean =>
  typeof type === 'string' &&
  Object.hasOwn(TYPES, type) &&
  (typeof content === 'string' || Array.isArray(content) || (type === 'remove' && typeof id === 'string'));

function toMessage(message: JsonObject): JsonObject {
  const { id, name, response_metadata: metadata, additional_kwargs: kwargs } = message;
  const type = TYPES[message['type'] as string]!;
  const extra = isObject(kwargs) ? kwargs : {};
  return {
    type,
    content: type === 'ai' ? withMedia(toContent(message['content']), extra) : toContent(message['content']),
    ...(id !== undefined && id !== null && { id }),
    ...(name !== undefined && name !== null && { name }),
    ...(type === 'ai' && ofAi(message, extra)),
    ...(type === 'tool' && keep(message, ['tool_call_id', 'status', 'artifact'])),
    ...(isObject(metadata) && Object.keys(metadata).length > 0 && { response_metadata: metadata }),
  };
}

const toContent = (content: Json | undefined): Json =>
  Array.isArray(content) ? content.map(toBlock) : (content ?? '');

function ofAi(message: JsonObject, extra: JsonObject): JsonObject {
  const given = listOf(message['tool_calls']);
  const calls = (given.length > 0 ? given : listOf(extra['tool_calls']).map(fromProvider)).map(toToolCall);
  const valid = calls.filter(({ type }) => type === 'tool_call');
  const invalid = [
    ...listOf(message['invalid_tool_calls']),
    ...calls.filter(({ type }) => type !== 'tool_call'),
  ];
  return {
    tool_calls: valid,
    ...(invalid.length > 0 && { invalid_tool_calls: invalid }),
    ...keep(message, ['example', 'usage_metadata']),
  };
}

const listOf = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** Flattens OpenAI's form `{id, function: {name, arguments}}`. */
function fromProvider(call: JsonObject): JsonObject {
  const fn = call['function'];
  return isObject(fn)
    ? { id: call['id'] ?? null, name: fn['name'] ?? null, args: fn['arguments'] ?? null }
    : call;
}

/** Appends audio and images from `additional_kwargs` to the content as blocks. */
function withMedia(content: Json, { audio, tool_outputs: outputs }: JsonObject): Json {
  const blocks: JsonObject[] = [];
  if (isObject(audio) && typeof audio['data'] === 'string') {
    const { data, ...rest } = audio;
    blocks.push({ type: 'audio', base64: data!, ...rest });
  }
  for (const { type, result } of listOf(outputs))
    if (type === 'image_generation_call' && typeof result === 'string')
      blocks.push({ type: 'image', mime_type: 'image/png', base64: result });
  if (blocks.length === 0) return content;
  const before = Array.isArray(content) ? content : content === '' ? [] : [{ type: 'text', text: content }];
  return [...before, ...blocks];
}

const keep = (message: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const value = message[key];
      return value === undefined || value === null ? [] : [[key, value] as const];
    }),
  );
