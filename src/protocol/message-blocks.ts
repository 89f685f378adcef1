/**
 * Turns the chunks of one message into content block events. Blocks never interleave: a piece of another block ends the
 * open one, which is not reopened.
 */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { toBlock, toToolCall } from './content.ts';

export interface GrowingMessage {
  /** The events for the next piece, given as the wire form of a message or message chunk. */
  add(message: JsonObject): JsonObject[];
  /** The events that end the open block and the message. */
  finish(): JsonObject[];
}

interface OpenBlock {
  readonly key: string;
  readonly index: number;
  block: JsonObject;
}

/** `whole`: the message is complete and has parsed `tool_calls`; chunks have `tool_call_chunks`. */
export function openMessage(whole: boolean): GrowingMessage {
  let open: OpenBlock | undefined;
  let blocks = 0;
  let usage: JsonObject | undefined;
  let metadata: JsonObject = {};

  function close(): JsonObject[] {
    if (open === undefined) return [];
    const { index, block } = open;
    open = undefined;
    const content = block['type'] === 'tool_call_chunk' ? toToolCall(block) : block;
    return [{ event: 'content-block-finish', index, content }];
  }

  function addPiece({ key, piece }: Piece): JsonObject[] {
    if (open?.key === key) return grow(open, piece);
    const events = close();
    open = { key, index: blocks, block: toEmptyBlock(piece) };
    blocks += 1;
    events.push({ event: 'content-block-start', index: open.index, content: open.block });
    return [...events, ...grow(open, piece)];
  }

  return {
    add(message) {
      const { usage_metadata: used, response_metadata: said } = message;
      if (isObject(used)) usage = usage === undefined ? used : sum(usage, used);
      if (isObject(said)) metadata = { ...metadata, ...said };
      return piecesOf(message, whole).flatMap(addPiece);
    },
    finish: () => [
      ...close(),
      {
        event: 'message-finish',
        ...(usage && { usage }),
        ...(Object.keys(metadata).length > 0 && { responseMetadata: metadata }),
      },
    ],
  };
}

interface Piece {
  /** Identifies the block that the piece belongs to. */
  readonly key: string;
  readonly piece: JsonObject;
}

function piecesOf(message: JsonObject, whole: boolean): Piece[] {
  const { content, additional_kwargs: extra, tool_calls: calls, tool_call_chunks: chunks } = message;
  const pieces: Piece[] = [];
  const reasoning = isObject(extra) ? extra['reasoning_content'] : undefined;
  if (typeof reasoning === 'string' && reasoning !== '')
    pieces.push({ key: 'reasoning', piece: { type: 'reasoning', reasoning } });
  const given: Json[] = Array.isArray(content) ? content : content ? [content] : [];
  const apart = toolPieces(whole ? calls : chunks, whole);
  for (const [at, each] of given.entries()) {
    // Providers repeat tool calls in the content; only the parsed calls are used.
    if (isObject(each) && apart.length > 0 && /tool_use|tool_call|input_json/.test(String(each['type'])))
      continue;
    const { index, ...piece } = toBlock(each);
    pieces.push({ key: `${String(piece['type'])} ${String(index ?? (whole ? at : ''))}`, piece });
  }
  return [...pieces, ...apart];
}

function toolPieces(calls: Json | undefined, whole: boolean): Piece[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter(isObject).map((call, at) => {
    const { id = null, name = null, args, index } = call;
    const text = typeof args === 'string' ? args : args === undefined ? '' : JSON.stringify(args);
    return {
      key: `tool ${String(index ?? (whole ? at : (id ?? '')))}`,
      piece: { type: 'tool_call_chunk', id, name, args: text },
    };
  });
}

/** The block as its start event shows it: growing fields are empty, other fields are set. */
function toEmptyBlock(piece: JsonObject): JsonObject {
  if (piece['type'] === 'text') return { ...piece, text: '' };
  if (piece['type'] === 'reasoning') return { ...piece, reasoning: '' };
  if (piece['type'] === 'tool_call_chunk') return { ...piece, args: '' };
  return piece;
}

function grow(open: OpenBlock, piece: JsonObject): JsonObject[] {
  const { block, index } = open;
  const tell = (delta: JsonObject): JsonObject[] => [{ event: 'content-block-delta', index, delta }];
  const text = (field: string): string => (typeof piece[field] === 'string' ? piece[field] : '');
  switch (piece['type']) {
    case 'text':
    case 'reasoning': {
      const field = piece['type'];
      const added = text(field);
      open.block = { ...block, ...piece, [field]: `${String(block[field] ?? '')}${added}` };
      return added === '' ? [] : tell({ type: `${field}-delta`, [field]: added });
    }
    case 'tool_call_chunk': {
      // The fields of a `block-delta` replace earlier ones, so each delta has the whole arguments so far.
      open.block = {
        type: 'tool_call_chunk',
        id: piece['id'] ?? block['id'] ?? null,
        name: piece['name'] ?? block['name'] ?? null,
        args: `${String(block['args'])}${text('args')}`,
      };
      return text('args') === '' ? [] : tell({ type: 'block-delta', fields: open.block });
    }
    default:
      if (piece === block) return [];
      open.block = { ...block, ...piece };
      return tell({ type: 'block-delta', fields: open.block });
  }
}

function sum(a: JsonObject, b: JsonObject): JsonObject {
  const total: JsonObject = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const before = total[key];
    if (typeof value === 'number' && typeof before === 'number') total[key] = before + value;
    else if (isObject(value) && isObject(before)) total[key] = sum(before, value);
    else total[key] = value;
  }
  return total;
}
