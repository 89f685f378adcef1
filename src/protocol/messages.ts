/** Derives a run's `messages` events (content blocks) from frames of the stream mode `messages-tuple`. */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { namespaceKey, startsWith, type Draft, type Namespace } from './event.ts';
import { openMessage, type GrowingMessage } from './message-blocks.ts';

export interface Messages {
  /** `payload` is a frame's `[message, metadata]`; a message without an id gets one from the id `frame`. */
  add(payload: Json, namespace: Namespace, frame: number): Draft[];
  /** Ends the open messages in this namespace and below it. */
  finishBelow(namespace: Namespace): Draft[];
  /** Ends the open messages of a graph's node, unless several calls of the node have open messages. */
  finishNode(graph: Namespace, node: string): Draft[];
  /** Ends the open messages of all nodes of a graph. */
  finishStep(graph: Namespace): Draft[];
  /** Ends all open messages with an error event. */
  fail(reason: string): Draft[];
}

interface Open {
  readonly namespace: Namespace;
  readonly node: string | undefined;
  readonly runId: string;
  readonly message: GrowingMessage;
}

const ROLES: ReadonlyMap<string, string> = new Map([
  ['human', 'human'],
  ['user', 'human'],
  ['system', 'system'],
  ['developer', 'system'],
  ['tool', 'tool'],
  ['function', 'tool'],
]);

export function openMessages(): Messages {
  const open = new Map<string, Open>();

  const toDraft = ({ namespace, node, runId }: Open, data: JsonObject): Draft => ({
    method: 'messages',
    namespace,
    ...(node !== undefined && { node }),
    // Identifies the message of a block, because one node may stream several messages at once.
    data: { ...data, run_id: runId },
  });

  function finish(wanted: (each: Open) => boolean): Draft[] {
    const drafts: Draft[] = [];
    for (const [key, each] of open) {
      if (!wanted(each)) continue;
      open.delete(key);
      drafts.push(...each.message.finish().map((data) => toDraft(each, data)));
    }
    return drafts;
  }

  function start(key: string, each: Open, message: JsonObject, id: string, place: JsonObject): Draft {
    open.set(key, each);
    const { ls_provider: provider, ls_model_name: model } = place;
    const callId = message['tool_call_id'];
    return toDraft(each, {
      event: 'message-start',
      id,
      role: roleOf(message),
      ...(typeof callId === 'string' && { tool_call_id: callId }),
      ...((typeof provider === 'string' || typeof model === 'string') && {
        metadata: {
          ...(typeof provider === 'string' && { provider }),
          ...(typeof model === 'string' && { model }),
        },
      }),
    });
  }

  return {
    add(payload, outer, frame) {
      const [message, metadata] = Array.isArray(payload) ? payload : [];
      if (!isObject(message) || typeof message['type'] !== 'string' || message['type'] === 'remove')
        return [];
      const place = isObject(metadata) ? metadata : {};
      const { langgraph_checkpoint_ns: ns, langgraph_node: node } = place;
      const namespace = typeof ns === 'string' && ns !== '' ? ns.split('|') : outer;
      const id = typeof message['id'] === 'string' ? message['id'] : `message-${frame}`;
      const key = `${namespaceKey(namespace)} ${id}`;
      const whole = !message['type'].endsWith('MessageChunk');
      const drafts: Draft[] = [];
      let each = open.get(key);
      if (each === undefined) {
        const runId = id.replace(/^run-/, '');
        each = {
          namespace,
          node: typeof node === 'string' ? node : undefined,
          runId,
          message: openMessage(whole),
        };
        drafts.push(start(key, each, message, id, place));
      }
      // The chunks of this message were sent already, so the whole message only ends it.
      else if (whole) return finish((other) => other === each);
      const current = each;
      drafts.push(...current.message.add(message).map((data) => toDraft(current, data)));
      if (whole) drafts.push(...finish((other) => other === current));
      return drafts;
    },
    finishBelow: (namespace) => finish((each) => startsWith(each.namespace, namespace)),
    finishNode(graph, node) {
      const ofNode = ({ namespace }: Open): boolean =>
        namespace.length > graph.length &&
        startsWith(namespace, graph) &&
        namespace[graph.length]!.split(':', 1)[0] === node;
      const calls = [...open.values()].filter(ofNode).map(({ namespace }) => namespace[graph.length]);
      return new Set(calls).size === 1 ? finish(ofNode) : [];
    },
    finishStep: (graph) =>
      finish(({ namespace }) => namespace.length > graph.length && startsWith(namespace, graph)),
    fail(reason) {
      const drafts = [...open.values()].map((each) => toDraft(each, { event: 'error', message: reason }));
      open.clear();
      return drafts;
    },
  };
}

function roleOf({ type, role }: JsonObject): string {
  const name = String(type)
    .replace(/MessageChunk$/, '')
    .toLowerCase();
  return ROLES.get(name) ?? (name === 'chat' && typeof role === 'string' ? (ROLES.get(role) ?? 'ai') : 'ai');
}
