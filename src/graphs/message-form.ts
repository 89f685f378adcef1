/**
 * Recognises LangChain messages by shape instead of class, because a project may have several copies of the library.
 * Parsed JSON never matches, because it has no methods.
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

const STANDARD_FIELDS = ['content', 'additional_kwargs', 'response_metadata', 'id', 'name'] as const;
/**
 * Constructor fields that are not stored. `contentBlocks` duplicates `content`. The `lc_…` fields get into the kwargs of
 * a copy (`new AIMessage({ ...chunk })`) and would nest deeper with every copy.
 */
const EXCLUDED_FIELDS = ['contentBlocks', 'lc_kwargs', 'lc_namespace', 'lc_serializable'] as const;
const APART: ReadonlySet<string> = new Set([...STANDARD_FIELDS, ...EXCLUDED_FIELDS]);

/**
 * The fields of a message's wire form, values not yet converted: `type` and the constructor's fields with their current
 * values. `toDict()` rewrites user data that has a key `lc`, so it is used only for classes without `lc_kwargs`.
 */
export function toMessageFields(message: MessageLike): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const kwargs = message.lc_kwargs;
  if (kwargs === undefined) {
    const { type, data } = message.toDict();
    for (const key of Object.keys(data)) add(fields, key, data[key]);
    return Object.assign(fields, { type });
  }
  const own = message as unknown as Record<string, unknown>;
  for (const key of STANDARD_FIELDS) add(fields, key, current(own, kwargs, key));
  for (const key of Object.keys(kwargs)) if (!APART.has(key)) add(fields, key, current(own, kwargs, key));
  fields['type'] = message._getType();
  return fields;
}

function add(fields: Record<string, unknown>, key: string, value: unknown): void {
  if (value !== undefined && !(key === 'name' && value === null)) fields[key] = value;
}

const current = (own: Record<string, unknown>, kwargs: Record<string, unknown>, key: string): unknown =>
  key in own && !(key in Object.prototype) ? own[key] : kwargs[key];

/** The class name of a message chunk, such as `AIMessageChunk`; undefined for a complete message. */
export function chunkType(message: MessageLike): string | undefined {
  const name = (message.constructor as { lc_name?: () => string }).lc_name?.();
  return name?.endsWith('MessageChunk') ? name : undefined;
}
