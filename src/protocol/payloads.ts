/** Converts the payloads of `checkpoints`, `tools` and `custom` frames to their protocol form. */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';

/** `{id, parent_id, step, source}` of a checkpoint, without its state; undefined if `data` has no checkpoint id. */
export function toCheckpoint(data: Json): JsonObject | undefined {
  if (!isObject(data)) return undefined;
  const { config, parent_config: parent, metadata } = data;
  const id = data['id'] ?? idOf(config);
  if (typeof id !== 'string') return undefined;
  const parentId = data['parent_id'] ?? idOf(parent);
  const about = isObject(metadata) ? metadata : data;
  return {
    id,
    ...(typeof parentId === 'string' && { parent_id: parentId }),
    ...(typeof about['step'] === 'number' && { step: about['step'] }),
    ...(typeof about['source'] === 'string' && { source: about['source'] }),
  };
}

function idOf(config: Json | undefined): Json | undefined {
  const configurable = isObject(config) ? config['configurable'] : undefined;
  return isObject(configurable) ? configurable['checkpoint_id'] : undefined;
}

export function toTool(data: Json): JsonObject & { readonly tool_call_id: string } {
  const { event, toolCallId, name, input, output, error, data: piece } = isObject(data) ? data : {};
  const call = { tool_call_id: typeof toolCallId === 'string' ? toolCallId : '' };
  switch (event) {
    case 'on_tool_start':
      return {
        event: 'tool-started',
        ...call,
        tool_name: typeof name === 'string' ? name : 'unknown',
        input: input ?? null,
      };
    case 'on_tool_event':
      return {
        event: 'tool-output-delta',
        ...call,
        delta: typeof piece === 'string' ? piece : JSON.stringify(piece ?? ''),
      };
    case 'on_tool_end':
      return { event: 'tool-finished', ...call, output: output ?? null };
    default:
      return { event: 'tool-error', ...call, message: toMessage(error ?? event) };
  }
}

const toMessage = (error: Json | undefined): string =>
  isObject(error) && typeof error['message'] === 'string'
    ? error['message']
    : typeof error === 'string'
      ? error
      : JSON.stringify(error ?? 'unknown error');

/** A chunk `{name, payload}` goes to the channel `custom:<name>`; any other chunk becomes `{payload}`. */
export function toCustom(data: Json): { data: JsonObject; name?: string } {
  if (isObject(data) && typeof data['name'] === 'string' && 'payload' in data)
    return { data, name: data['name'] };
  return { data: { payload: data } };
}
