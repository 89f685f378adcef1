/**
 * The events of one run: a pure fold over its frames, between its start and its end. S2 The same frames give the same
 * events, so nothing of this is stored. X3 The last event is the one terminal event of the run, and its last.
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
  /** The stream modes that the run was asked for: what its frames can tell. */
  readonly modes: readonly string[];
  /** The questions that the run answers by their ids, as far as it has started. */
  readonly answers?: readonly string[];
}

export interface Frame {
  readonly id: number;
  readonly event: string;
  readonly data: string;
}

export interface RunEnding {
  readonly status: EndStatus;
  readonly error?: string;
  /** Why a strict answer was refused: further members of the event. */
  readonly refusal?: JsonObject;
  /** The questions that the run left behind. */
  readonly interrupts: readonly JsonObject[];
}

export interface RunFold {
  frame(frame: Frame): Draft[];
  end(ending: RunEnding): Draft[];
  nodes(): readonly Node[];
}

/** In UTF-16 units. */
const LARGE = 65_536;
/** S3 What large frames say, once for all readers who are given the same frame. Nobody changes it. */
const read = new WeakMap<Frame, Json>();

function parse(frame: Frame): Json {
  const known = read.get(frame);
  if (known !== undefined) return known;
  const data = JSON.parse(frame.data) as Json;
  if (frame.data.length > LARGE) read.set(frame, data);
  return data;
}

/** Langgraph 0.3 calls it otherwise, and 0.2 gives none: only one question can wait then. */
export const idOfQuestion = ({ id, interrupt_id: former }: JsonObject): string =>
  typeof id === 'string' ? id : typeof former === 'string' ? former : '';

export function openRunFold({ graphId, modes, answers = [] }: RunFacts): RunFold {
  const lifecycle = openLifecycle(graphId);
  const messages = openMessages();
  const asked = new Set<string>();
  const hasTasks = modes.includes('tasks');

  /** A question is told once, where it is seen first: in the graph that asks it. */
  function ask(questions: Json | undefined, namespace: Namespace): Draft[] {
    if (!Array.isArray(questions)) return [];
    return questions.filter(isObject).flatMap((question) => {
      const { value = null } = question;
      const id = idOfQuestion(question);
      if (asked.has(id)) return [];
      asked.add(id);
      const mark = `input|${namespaceKey(namespace)}|${id}`;
      const data = { interrupt_id: id, payload: value };
      return [{ method: 'input.requested', namespace, data, mark } as const];
    });
  }

  /** Told before anybody knows whether the answers are taken: other readers stop showing the questions. */
  function begin(): Draft[] {
    if (answers.length === 0) return [lifecycle.begin()];
    const data = { interrupt_ids: [...answers] };
    return [lifecycle.begin(), { method: 'input.answered', namespace: [], data }];
  }

  function updates(data: Json, namespace: Namespace): Draft[] {
    if (!isObject(data)) return [];
    const told = ask(data[INTERRUPT], namespace);
    for (const [node, delta] of Object.entries(data)) {
      if (node === INTERRUPT) continue;
      told.push(...messages.finishNode(namespace, node));
      // Readers take the data of this method for an object; a task of a function may have answered anything.
      const update = isObject(delta) ? delta : { value: delta };
      told.push({ method: 'updates', namespace, node, data: () => normalise(update) });
      if (!hasTasks) told.push(...lifecycle.leaveNode(namespace, node));
    }
    return told;
  }

  function values(text: string, namespace: Namespace): Draft[] {
    const told = hasTasks ? [] : messages.finishStep(namespace);
    // Large, and most readers do not ask for it: parsed only where a question may hide in it.
    if (!text.includes(`"${INTERRUPT}"`))
      return [...told, { method: 'values', namespace, data: () => normalise(JSON.parse(text) as Json) }];
    const state = JSON.parse(text) as Json;
    if (!isObject(state)) return [...told, { method: 'values', namespace, data: () => normalise(state) }];
    told.push(...ask(state[INTERRUPT], namespace));
    const { [INTERRUPT]: _, ...rest } = state;
    if (Object.keys(rest).length > 0) told.push({ method: 'values', namespace, data: () => normalise(rest) });
    return told;
  }

  function tasks(data: Json, namespace: Namespace): Draft[] {
    const told: Draft[] = [{ method: 'tasks', namespace, data }];
    if (!isObject(data)) return told;
    const { id, name, interrupts } = data;
    const ended = lifecycle.task(namespace, data);
    if (!('result' in data) || typeof name !== 'string' || typeof id !== 'string') return told;
    return [
      ...messages.finishBelow([...namespace, `${name}:${id}`]),
      ...told,
      ...ask(interrupts, namespace),
      ...ended,
    ];
  }

  function fold(mode: string, namespace: Namespace, frame: Frame): Draft[] {
    const { id, data } = frame;
    switch (mode) {
      case 'metadata':
        // The first frame of every attempt.
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

  /** Whatever comes from a namespace comes after the news that it has begun. */
  const announced = (drafts: Draft[]): Draft[] =>
    drafts.flatMap((draft) =>
      draft.method === 'lifecycle' ? [draft] : [...lifecycle.enter(draft.namespace), draft],
    );

  return {
    frame(frame) {
      const { mode, namespace } = parseFrameName(frame.event);
      return announced(fold(mode, namespace, frame));
    },
    end({ status, error, refusal, interrupts }) {
      const open =
        status === 'completed'
          ? messages.finishBelow([])
          : messages.fail(error ?? 'The run was interrupted.');
      const told = { ...(error !== undefined && { error }), ...refusal };
      return [...announced([...open, ...ask([...interrupts], [])]), ...lifecycle.end(status, told)];
    },
    nodes: lifecycle.nodes,
  };
}
