/** Assembles the AI messages that a run's root graph was streaming when it was stopped, from the run's frames. */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';

export interface MessageFrame {
  readonly id: number;
  readonly data: string;
}

interface Streamed {
  readonly task: string;
  /** Ids of the first and the last frame. */
  readonly first: number;
  last: number;
  /** The whole message was sent. */
  isWhole: boolean;
  message: JsonObject;
}

/**
 * `tuples`: frames of the mode `messages-tuple`; `partial`: frames of the mode `messages`, with metadata by message id in
 * `described`. A message that was sent whole, or whose task began another one after its last chunk, is complete and left
 * out. Messages without text are left out as well: their tool calls were never made.
 */
export function stoppedMessages(frames: {
  readonly tuples: readonly MessageFrame[];
  readonly partial: readonly MessageFrame[];
  readonly described: readonly MessageFrame[];
}): JsonObject[] {
  const streamed = new Map<string, Streamed>();
  const tasks = new Map<string, string | undefined>();
  for (const { data } of frames.described)
    for (const [id, described] of Object.entries(toObject(JSON.parse(data) as Json)))
      tasks.set(id, taskOf(toObject(described)['metadata']));
  for (const { id: frame, data } of frames.partial)
    for (const message of JSON.parse(data) as Json[])
      add(message, frame, tasks.get(idOf(message)), { isWhole: false, join: replace });
  const accumulated = new Set(streamed.keys());
  for (const { id: frame, data } of frames.tuples) {
    const [chunk, metadata] = JSON.parse(data) as [Json, Json];
    if (accumulated.has(idOf(chunk))) continue;
    const isWhole = isObject(chunk) && chunk['type'] !== 'AIMessageChunk';
    add(chunk, frame, taskOf(metadata), { isWhole, join: append });
  }
  const all = [...streamed.values()];
  const isOpen = ({ task, last, isWhole }: Streamed): boolean =>
    !isWhole && all.every((other) => other.task !== task || other.first <= last);
  return all.filter(isOpen).map(toStopped).filter(hasText);

  function add(
    given: Json,
    frame: number,
    task: string | undefined,
    { isWhole, join }: { isWhole: boolean; join(before: JsonObject, message: JsonObject): JsonObject },
  ): void {
    const id = idOf(given);
    if (!isObject(given) || id === '' || task === undefined || !isAi(given)) return;
    const known = streamed.get(id);
    if (known === undefined) streamed.set(id, { task, first: frame, last: frame, isWhole, message: given });
    else Object.assign(known, { last: frame, isWhole, message: join(known.message, given) });
  }
}

const toObject = (value: Json | undefined): JsonObject =>
  isObject(value ?? null) ? (value as JsonObject) : {};
const idOf = (message: Json): string => String((isObject(message) ? message['id'] : undefined) ?? '');
const isAi = ({ type }: JsonObject): boolean => type === 'ai' || type === 'AIMessageChunk';

/** The task of a node of the root graph; undefined for tasks of subgraphs. */
function taskOf(metadata: Json | undefined): string | undefined {
  const { langgraph_checkpoint_ns: ns, langgraph_node: node } = toObject(metadata);
  if (typeof ns !== 'string') return String(node ?? '');
  return ns.includes('|') ? undefined : ns;
}

const replace = (_: JsonObject, message: JsonObject): JsonObject => message;

const append = (before: JsonObject, chunk: JsonObject): JsonObject => ({
  ...chunk,
  content: joinContent(before['content'] ?? '', chunk['content'] ?? ''),
  additional_kwargs: joinTexts(toObject(before['additional_kwargs']), toObject(chunk['additional_kwargs'])),
  response_metadata: { ...toObject(before['response_metadata']), ...toObject(chunk['response_metadata']) },
});

function joinContent(before: Json, added: Json): Json {
  if (typeof before === 'string' && typeof added === 'string') return before + added;
  return toBlocks(added).reduce<Json[]>((blocks, block) => {
    const at = blocks.findIndex((each) => isSameBlock(toObject(each), toObject(block)));
    if (at === -1) return [...blocks, block];
    return blocks.with(at, joinTexts(toObject(blocks[at]), toObject(block)));
  }, toBlocks(before));
}

const toBlocks = (content: Json): Json[] =>
  Array.isArray(content) ? content : content === '' ? [] : [{ type: 'text', text: content }];

/** Blocks with an index grow by it; a text without one grows the text before it. */
const isSameBlock = (one: JsonObject, other: JsonObject): boolean =>
  one['type'] === other['type'] && (one['index'] ?? null) === (other['index'] ?? null);

const GROWING: ReadonlySet<string> = new Set(['text', 'reasoning', 'thinking', 'reasoning_content']);

const joinTexts = (before: JsonObject, added: JsonObject): JsonObject => ({
  ...before,
  ...Object.fromEntries(
    Object.entries(added).map(([key, value]) => {
      const known = before[key];
      const grows = GROWING.has(key) && typeof known === 'string' && typeof value === 'string';
      return [key, grows ? known + value : value];
    }),
  ),
});

/** Tool calls are dropped: none was made, and a call without an answer makes the conversation invalid for models. */
function toStopped({ message }: Streamed): JsonObject {
  const { id, name, content = '', additional_kwargs: extra, response_metadata: said } = message;
  const { tool_calls: _, function_call: __, ...kept } = toObject(extra);
  return {
    type: 'ai',
    ...{ id: id!, ...(name !== undefined && name !== null && { name }) },
    content: Array.isArray(content) ? content.filter(isNoCall) : content,
    additional_kwargs: kept,
    response_metadata: { ...toObject(said), stopped: true },
    ...{ tool_calls: [], invalid_tool_calls: [] },
  };
}

const isNoCall = (block: Json): boolean =>
  !/tool_use|tool_call|function_call|input_json/.test(String(toObject(block)['type']));

const hasText = ({ content }: JsonObject): boolean => (content as string | Json[]).length > 0;
