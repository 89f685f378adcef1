/**
 * LangChain messages are recognised by their shape, never by class: a project may hold several copies of the library.
 * A plain object cannot pass for one, because data that went through JSON has no methods.
 */
const MESSAGE = Symbol.for('langchain.message');

export interface MessageLike {
  readonly id?: string;
  readonly lc_kwargs?: Record<string, unknown>;
  _getType(): string;
  toDict(): { type: string; data: Record<string, unknown> };
}

export function isMessage(value: object): value is MessageLike {
  const candidate = value as Partial<MessageLike> & { [MESSAGE]?: unknown };
  return (
    typeof candidate.toDict === 'function' &&
    (candidate[MESSAGE] === true || typeof candidate._getType === 'function')
  );
}

const ALWAYS = ['content', 'additional_kwargs', 'response_metadata', 'id', 'name'] as const;
/**
 * No part of a message: typed blocks are a second name of `content`, and a message that was built from the members of
 * another (`new AIMessage({ ...chunk })`) counts that one's own books among what it was built from, deeper each time.
 */
const NEVER = new Set(['contentBlocks', 'lc_kwargs', 'lc_namespace', 'lc_serializable']);

/**
 * The wire form of a message, its members not yet converted: what it was built from with the values it has now, and
 * `type`. `toDict()` itself would wrap user data that owns a key `lc`, so it serves only classes without `lc_kwargs`.
 */
export function toMessageFields(message: MessageLike): Record<string, unknown> {
  const { type, data } =
    message.lc_kwargs === undefined ? message.toDict() : { type: message._getType(), data: current(message) };
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data))
    if (value !== undefined && !(key === 'name' && value === null)) fields[key] = value;
  fields['type'] = type;
  return fields;
}

function current(message: MessageLike): Record<string, unknown> {
  const own = message as unknown as Record<string, unknown>;
  const kwargs = message.lc_kwargs ?? {};
  const data: Record<string, unknown> = {};
  for (const key of new Set([...ALWAYS, ...Object.keys(kwargs)]))
    if (!NEVER.has(key)) data[key] = key in own ? own[key] : kwargs[key];
  return data;
}

/** `AIMessageChunk` and the like for a piece of a streamed message, undefined for a whole one. */
export function chunkType(message: MessageLike): string | undefined {
  const name = (message.constructor as { lc_name?: () => string }).lc_name?.();
  return name?.endsWith('MessageChunk') ? name : undefined;
}
