/**
 * Folds a run's frames into protocol events. S2 The fold is pure: equal frames give equal events, so events are not
 * stored. X3 The run's only terminal event is its last.
 */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { namespaceKey, parseFrameName, type Draft, type Namespace } from './event.ts';
import { openLifecycle, type Node } from './lifecycle.ts';
import { openMessages } from './messages.ts';
import { INTERRUPT, normalise } from './normalise.ts';
import { toCheckpoint, toCustom, toTool } from './payloads.ts';
import type { EndStatus } from './subgraphs.ts';

export interface RunFacts {
  readonly graphId: string;
  /** The stream modes that the run was created with; frames of other modes do not exist. */
  readonly modes: readonly string[];
  /** The ids of the interrupts that the run resumes, once it has started. */
  readonly resumed?: readonly string[];
}

interface Frame {
  readonly id: number;
  readonly event: string;
  readonly data: string;
}

export interface RunEnding {
  readonly status: EndStatus;
  readonly error?: string;
  /** Further members of the end event: why a strict resume was refused. */
  readonly refusal?: JsonObject;
  /** The interrupts pending at the run's end. */
  readonly interrupts: readonly JsonObject[];
}

export interface RunFold {
  frame(frame: Frame): Draft[];
  end(ending: RunEnding): Draft[];
  nodes(): readonly Node[];
}

const LARGE_FRAME_UTF16_UNITS = 65_536;
/** S3 Parsed data of large frames, shared by all readers of the same frame object. It must not be mutated. */
const parsedFrames = new WeakMap<Frame, Json>();

function parse(frame: Frame): Json {
  const known = parsedFrames.get(frame);
  if (known !== undefined) return known;
  const data = JSON.parse(frame.data) as Json;
  if (frame.data.length > LARGE_FRAME_UTF16_UNITS) parsedFrames.set(frame, data);
  return data;
}

/** langgraph 0.3 names the id `interrupt_id`; 0.2 has none and at most one pending interrupt. */
export const idOfInterrupt = ({ id, interrupt_id: former }: JsonObject): string =>
  typeof id === 'string' ? id : typeof former === 'string' ? former : '';

export function openRunFold({ graphId, modes, resumed = [] }: RunFacts): RunFold {
  const lifecycle = openLifecycle(graphId);
  const messages = openMessages();
  const requested = new Set<string>();
  const hasTasks = modes.includes('tasks');

  /** Emits each interrupt once, in the namespace of its first frame, which is the graph that raised it. */
  function request(interrupts: Json | undefined, namespace: Namespace): Draft[] {
    if (!Array.isArray(interrupts)) return [];
    return interrupts.filter(isObject).flatMap((interrupt) => {
      const { value = null } = interrupt;
      const id = idOfInterrupt(interrupt);
      if (requested.has(id)) return [];
      requested.add(id);
      const mark = `input|${namespaceKey(namespace)}|${id}`;
      const data = { interrupt_id: id, payload: value };
      return [{ method: 'input.requested', namespace, data, mark } as const];
    });
  }

  /** Emits `input.answered` before the graph accepts the resume values, so that other readers hide the interrupts at once. */
  function begin(): Draft[] {
    if (resumed.length === 0) return [lifecycle.begin()];
    const data = { interrupt_ids: [...resumed] };
    return [lifecycle.begin(), { method: 'input.answered', namespace: [], data }];
  }

  function updates(data: Json, namespace: Namespace): Draft[] {
    if (!isObject(data)) return [];
    const drafts = request(data[INTERRUPT], namespace);
    for (const [node, delta] of Object.entries(data)) {
      if (node === INTERRUPT) continue;
      drafts.push(...messages.finishNode(namespace, node));
      // Clients expect an object here, but a functional task may return any value.
      const update = isObject(delta) ? delta : { value: delta };
      drafts.push({ method: 'updates', namespace, node, data: () => normalise(update) });
      if (!hasTasks) drafts.push(...lifecycle.leaveNode(namespace, node));
    }
    return drafts;
  }

  function values(text: string, namespace: Namespace): Draft[] {
    const drafts = hasTasks ? [] : messages.finishStep(namespace);
    // State is large and few readers want it, so it is parsed here only if it may contain interrupts.
    if (!text.includes(`"${INTERRUPT}"`))
      return [...drafts, { method: 'values', namespace, data: () => normalise(JSON.parse(text) as Json) }];
    const state = JSON.parse(text) as Json;
    if (!isObject(state)) return [...drafts, { method: 'values', namespace, data: () => normalise(state) }];
    drafts.push(...request(state[INTERRUPT], namespace));
    const { [INTERRUPT]: _, ...rest } = state;
    if (Object.keys(rest).length > 0)
      drafts.push({ method: 'values', namespace, data: () => normalise(rest) });
    return drafts;
  }

  function tasks(data: Json, namespace: Namespace): Draft[] {
    const drafts: Draft[] = [{ method: 'tasks', namespace, data }];
    if (!isObject(data)) return drafts;
    const { id, name, interrupts } = data;
    const ended = lifecycle.task(namespace, data);
    if (!('result' in data) || typeof name !== 'string' || typeof id !== 'string') return drafts;
    return [
      ...messages.finishBelow([...namespace, `${name}:${id}`]),
      ...drafts,
      ...request(interrupts, namespace),
      ...ended,
    ];
  }

  function fold(name: string, namespace: Namespace, frame: Frame): Draft[] {
    const { id, data } = frame;
    switch (name) {
      case 'metadata':
        // Every attempt starts with a `metadata` frame, so a later one means that the attempt before was lost.
        if (id === 0) return begin();
        lifecycle.lose();
        return messages.fail('The attempt was lost; the run goes on.');
      case 'messages':
        return messages.add(JSON.parse(data) as Json, namespace, id);
      case 'values':
        return values(data, namespace);
      case 'updates':
        return updates(parse(frame), namespace);
      case 'tasks':
        return tasks(parse(frame), namespace);
      case 'checkpoints': {
        const checkpoint = toCheckpoint(parse(frame));
        return checkpoint === undefined ? [] : [{ method: 'checkpoints', namespace, data: checkpoint }];
      }
      case 'tools': {
        const tool = toTool(parse(frame));
        return [
          { method: 'tools', namespace: lifecycle.placeOfCall(namespace, tool.tool_call_id), data: tool },
        ];
      }
      case 'custom':
        return [{ method: 'custom', namespace, ...toCustom(parse(frame)) }];
      default:
        return [];
    }
  }

  /** Inserts the start events of a namespace before its first event. */
  const withStarts = (drafts: Draft[]): Draft[] =>
    drafts.flatMap((draft) =>
      draft.method === 'lifecycle' ? [draft] : [...lifecycle.enter(draft.namespace), draft],
    );

  return {
    frame(frame) {
      const { name, namespace } = parseFrameName(frame.event);
      return withStarts(fold(name, namespace, frame));
    },
    end({ status, error, refusal, interrupts }) {
      const open =
        status === 'completed'
          ? messages.finishBelow([])
          : messages.fail(error ?? 'The run was interrupted.');
      const more = { ...(error !== undefined && { error }), ...refusal };
      return [...withStarts([...open, ...request([...interrupts], [])]), ...lifecycle.end(status, more)];
    },
    nodes: lifecycle.nodes,
  };
}
