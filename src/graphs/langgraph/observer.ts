/**
 * Observes a run in development: counts its steps and model calls, and warns of what the library takes without a word. It is
 * a callback handler of the library. Callbacks cost time in every node, so other runs have none.
 */
import { nodePathOf } from '../../kernel/embedded-ids.ts';
import { isObject } from '../../kernel/json.ts';
import { stackOf, userPlaceOf } from '../../kernel/stack.ts';
import type { Observed, Warning } from '../../thread/origin.ts';
import { shorten, toWords } from '../failure.ts';
import { stackOfBranch, stackOfNode } from '../function-place.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import type { RunOrder } from '../port.ts';
import { START_NODE } from '../state-port.ts';
import { namesIn, subgraphAt, stateOf } from './structure.ts';

export interface Observer {
  readonly handler: object;
  /** Takes the channels that a task wrote to. `node` is unknown for tasks of a `Send`. */
  wrote(task: WritingTask, channels: readonly string[]): void;
  /** Call at the regular end of the graph, with the nodes that are left. */
  ended(next: readonly string[]): void;
  read(): Observed;
}

interface WritingTask {
  readonly ns: string;
  readonly taskId: string;
  readonly node: string | undefined;
}

/** An execution of a node. */
interface Task {
  /** Nodes from the root graph to this one. */
  readonly path: readonly string[];
  readonly ns: string;
  readonly step?: number;
}

const MAX_WARNINGS = 20;
const MAX_CONTENT_CHARACTERS = 500;
/** Tag that the library adds to the outermost chain of a task. */
const TASK_TAG = 'graph:step:';
/** The library's name of the graph around the current one. */
const PARENT = '__parent__';
/** Channel that starts a node. */
const TO_NODE = /^branch:to:(.+)$/s;

export function openObserver(root: CompiledGraph, order: RunOrder): Observer {
  const warnings = new Map<string, Warning>();
  const steps = new Set<number>();
  let modelCalls = 0;
  /** Open tasks by the library's run ids, and all tasks by their own ids. */
  const open = new Map<string, Task>();
  const known = new Map<string, Task>();
  /** Namespaces of open tool calls, by the library's run ids, and what tools threw. */
  const tools = new Map<string, string>();
  const thrown: { readonly ns: string; readonly error: unknown }[] = [];

  function warn(message: string, { path, step }: Partial<Task>, stack: string | undefined): void {
    const node = path?.join('|');
    const key = `${node} ${message}`;
    if (warnings.has(key) || warnings.size === MAX_WARNINGS) return;
    warnings.set(key, {
      message: shorten(message),
      ...(node !== undefined && { node }),
      ...(step !== undefined && { step }),
      ...(stack !== undefined && { stack }),
    });
  }

  const graphOf = ({ path }: Task): CompiledGraph | undefined => subgraphAt(root, path.slice(0, -1));

  /** Warns of members of an update that the state does not have. Nodes of packages return what their graphs share. */
  function checkKeys(update: object, task: Task): void {
    const graph = graphOf(task);
    const state = graph && stateOf(graph);
    const lacking = state && Object.keys(update).filter((key) => !state.includes(key));
    if (graph === undefined || lacking === undefined || lacking.length === 0) return;
    const node = task.path.at(-1)!;
    const stack = stackOfNode(graph, node);
    if (stack === undefined || userPlaceOf(stack) === undefined) return;
    warn(`The node "${task.path.join('|')}" returned ${dropped(lacking, state!)}`, task, stack);
  }

  /** Warns of failed tools: the library turns what they throw into a message to the model. */
  function checkTools(update: object, task: Task): void {
    const messages = isToolMessage(update) ? [update] : Object.values(update).flat().filter(isToolMessage);
    for (const { status, name, content } of messages) {
      const text = typeof content === 'string' ? content : JSON.stringify(content);
      const own = thrown.filter(({ ns }) => ns === task.ns);
      const named = own.find(({ error }) => text.includes(String(Object(error).message ?? error)));
      // Older library versions set no status.
      if (status !== 'error' && named === undefined) continue;
      const found = named ?? (own.length === 1 ? own[0] : undefined);
      if (found !== undefined) thrown.splice(thrown.indexOf(found), 1);
      const how = found === undefined ? `failed: ${text.trim()}` : `threw ${toWords(found.error)}`;
      const message = `The tool "${String(name)}" ${shorten(how, MAX_CONTENT_CHARACTERS)}`;
      warn(`${message}; the node "${task.path.join('|')}" told only the model`, task, stackOf(found?.error));
    }
  }

  const handler = {
    name: 'observer of development',
    awaitHandlers: true,
    handleChainStart(
      ...[, , runId, , tags, metadata]: [unknown, unknown, string, unknown, string[]?, Metadata?]
    ) {
      const task = tags?.some((tag) => tag.startsWith(TASK_TAG)) === true ? toTask(metadata) : undefined;
      if (task === undefined) return;
      open.set(runId, task);
      known.set(task.ns.slice(task.ns.lastIndexOf(':') + 1), task);
      const [node] = task.path;
      if (task.path.length === 1 && node !== START_NODE && task.step !== undefined) steps.add(task.step);
    },
    handleChainEnd(output: unknown, runId: string) {
      const task = open.get(runId);
      open.delete(runId);
      if (task === undefined) return;
      for (const update of updatesOf(output)) {
        checkTools(update, task);
        if (!isToolMessage(update)) checkKeys(update, task);
      }
    },
    handleChainError(error: unknown, runId: string) {
      const task = open.get(runId);
      open.delete(runId);
      const { name, command } = Object(error) as { name?: unknown; command?: { graph?: unknown } };
      // The runtime replaces the name of the parent graph when it finds one.
      if (task?.path.length !== 1 || name !== 'ParentCommand' || command?.graph !== PARENT) return;
      const [node] = task.path;
      const message = `The node "${node}" returned a command for the graph around it, and there is none: dropped`;
      warn(message, task, stackOfNode(root, node!));
    },
    handleToolStart(...[, , runId, , , metadata]: [unknown, unknown, string, unknown, string[]?, Metadata?]) {
      const task = toTask(metadata);
      if (task !== undefined) tools.set(runId, task.ns);
    },
    handleToolEnd: (_: unknown, runId: string) => void tools.delete(runId),
    handleToolError(error: unknown, runId: string) {
      const ns = tools.get(runId);
      tools.delete(runId);
      if (ns !== undefined) thrown.push({ ns, error });
    },
    handleChatModelStart: () => void (modelCalls += 1),
    handleLLMStart: () => void (modelCalls += 1),
  };

  for (const [name, given] of Object.entries({ input: order.input, update: order.command?.update })) {
    const state = stateOf(root);
    if (order.resume || state === undefined || given === undefined || !isObject(given)) continue;
    const lacking = Object.keys(given).filter((key) => !state.includes(key));
    if (lacking.length > 0) warn(`The run's ${name} has ${dropped(lacking, state)}`, {}, undefined);
  }

  return {
    handler,
    wrote({ ns, taskId, node }, channels) {
      const path = [...(ns === '' ? [] : nodePathOf(ns).split('|')), ...(node === undefined ? [] : [node])];
      const task = known.get(taskId) ?? (node === undefined ? undefined : { path, ns });
      const graph = task && graphOf(task);
      if (graph?.channels === undefined) return;
      for (const channel of channels) {
        const [, target] = TO_NODE.exec(channel) ?? [];
        if (target === undefined || Object.hasOwn(graph.channels, channel)) continue;
        const from = task!.path.at(-1)!;
        const nodes = namesIn(Object.keys(graph.nodes).filter((each) => each !== START_NODE));
        const message =
          `${from === START_NODE ? 'START' : `The node "${task!.path.join('|')}"`} leads to "${target}", which is no node: ` +
          `nothing runs there. The nodes are ${nodes}`;
        warn(message, task!, stackOfBranch(graph, from) ?? stackOfNode(graph, from));
      }
    },
    ended(next) {
      if (steps.size > 0 || next.length > 0 || order.resume) return;
      const why =
        order.command !== undefined
          ? 'the command left nothing to do'
          : order.input === null
            ? 'the run has no input, and its thread had nothing left to do'
            : 'START led to END';
      warn(`No node ran: ${why}`, {}, stackOfBranch(root, START_NODE));
    },
    read: () => ({ steps: steps.size, modelCalls, warnings: [...warnings.values()] }),
  };
}

type Metadata = Readonly<Record<string, unknown>>;

function toTask(metadata: Metadata = {}): Task | undefined {
  const { langgraph_checkpoint_ns: ns, langgraph_step: step } = metadata;
  if (typeof ns !== 'string') return undefined;
  return { path: nodePathOf(ns).split('|'), ns, ...(typeof step === 'number' && { step }) };
}

interface ToolMessage {
  readonly tool_call_id: string;
  readonly status?: unknown;
  readonly name?: unknown;
  readonly content: unknown;
}

const isToolMessage = (value: unknown): value is ToolMessage =>
  typeof value === 'object' && value !== null && typeof (value as ToolMessage).tool_call_id === 'string';

/** The updates of the node's own graph in what it returned: objects, commands, or lists of both. */
function updatesOf(output: unknown): object[] {
  if (typeof output !== 'object' || output === null) return [];
  if (Array.isArray(output)) return output.flatMap(updatesOf);
  const { lg_name: kind, graph, update } = output as Partial<Record<string, unknown>>;
  if (kind !== 'Command') return [output];
  if (graph !== undefined || typeof update !== 'object' || update === null) return [];
  return [Array.isArray(update) ? Object.fromEntries(update as [string, unknown][]) : update];
}

const dropped = (keys: readonly string[], state: readonly string[]): string =>
  `${namesIn(keys)}, which the state does not have: dropped. The state has ${namesIn(state)}`;
