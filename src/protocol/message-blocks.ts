/**
 * One message while it grows. Its blocks never interleave: a piece that belongs to another block than the one before
 * ends that block for good.
 */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { toBlock, toToolCall } from './content.ts';

export interface GrowingMessage {
  /** What the readers are told of the next piece: the wire form of a message or of a chunk of one. */
  add(message: JsonObject): JsonObject[];
  /** Ends the open block and the message. */
  finish(): JsonObject[];
}

interface OpenBlock {
  readonly key: string;
  readonly index: number;
  block: JsonObject;
}

/** `whole` messages carry their tool calls parsed, chunks carry them in pieces. */
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
    const told = close();
    open = { key, index: blocks, block: emptied(piece) };
    blocks += 1;
    told.push({ event: 'content-block-start', index: open.index, content: open.block });
    return [...told, ...grow(open, piece)];
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
  /** Pieces of one block have the same. */
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
    // Providers repeat a call among the content; the parsed one is used.
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

/** The block before its first piece: what grows is empty, the rest is there. */
function emptied(piece: JsonObject): JsonObject {
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
      // Fields of such a delta replace those before, so the arguments are told from their beginning.
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
