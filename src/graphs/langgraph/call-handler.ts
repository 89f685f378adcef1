/**
 * Notes calls of models and tools that the graph library reports. The code of a task gets a callback handler in its config; graphs
 * have none, because callbacks cost time in every node.
 */
import { isObject } from '../../kernel/json.ts';
import { seeConfigs, type ContextConfig } from '../../recording/library-context.ts';
import { currentCallLog, type CallEnd, type CallLog } from '../call-log.ts';
import { toWords } from '../failure.ts';
import { tokensOf, type ModelResult } from '../meter.ts';
import { HIDDEN_TAG, START_NODE } from '../state-port.ts';

type Metadata = Record<string, unknown> | undefined;
interface Serialized {
  readonly id?: readonly unknown[];
  readonly name?: unknown;
}
/** Arguments of the library's handlers. */
type ModelStart = [
  llm: Serialized | undefined,
  messages: unknown,
  id: string,
  parent?: unknown,
  extra?: { readonly invocation_params?: Record<string, unknown> },
  tags?: unknown,
  metadata?: Metadata,
  name?: string,
];
type ToolStart = [
  tool: Serialized | undefined,
  input: unknown,
  id: string,
  parent?: unknown,
  tags?: unknown,
  metadata?: Metadata,
  name?: string,
  toolCallId?: string,
];
interface Message {
  readonly name?: unknown;
  readonly status?: unknown;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id?: unknown; readonly name?: unknown }[];
}

/** Members that name the model, by provider. */
const MODEL_NAMES = ['model', 'model_name', 'modelName', 'modelId'];

function openHandler(log: CallLog) {
  /** Ends of open calls, by the library's run ids. */
  const open = new Map<string, (end: CallEnd) => void>();
  /** Names of tools, by the ids of their calls. */
  const tools = new Map<unknown, unknown>();

  function end(id: string, how: CallEnd): void {
    open.get(id)?.(how);
    open.delete(id);
  }

  function modelStarted(...[llm, , id, , extra, , metadata = {}, runName]: ModelStart): void {
    const params = extra?.invocation_params ?? {};
    const named = [...MODEL_NAMES.map((key) => params[key]), metadata['ls_model_name']];
    const model = named.find((each) => typeof each === 'string');
    const name = ownName(runName, metadata) ?? nameOf(llm);
    open.set(id, log.began({ kind: 'model', name, model, config: { metadata } }));
  }
  const failed = (error: unknown, id: string): void =>
    end(id, isQuestion(error) ? {} : { error: toWords(error) });

  return {
    name: 'calls',
    awaitHandlers: true,
    ...{ ignoreChain: true, ignoreRetriever: true, ignoreCustomEvent: true },
    handleChatModelStart: modelStarted,
    handleLLMStart: modelStarted,
    handleLLMEnd(result: ModelResult | undefined, id: string) {
      for (const { message } of result?.generations?.[0] ?? [])
        for (const call of (message as Message | undefined)?.tool_calls ?? []) tools.set(call.id, call.name);
      end(id, { usage: tokensOf(result) });
    },
    handleLLMError: failed,
    handleToolStart(...[tool, , id, , , metadata = {}, runName, callId]: ToolStart) {
      const name = ownName(runName, metadata) ?? tools.get(callId) ?? nameOf(tool);
      tools.delete(callId);
      open.set(id, log.began({ kind: 'tool', name: String(name), config: { metadata } }));
    },
    handleToolEnd(output: unknown, id: string) {
      const { name, ...message } = (isObject(output) ? output : {}) as Message;
      end(id, { ...(typeof name === 'string' && { name }), error: failureIn(message) });
    },
    handleToolError: failed,
  };
}

/** Agents pass the config of their node on, with its name. */
const ownName = (runName: string | undefined, metadata: Record<string, unknown>): string | undefined =>
  runName === metadata['langgraph_node'] ? undefined : runName;

const nameOf = (serialized: Serialized | undefined): string =>
  String(serialized?.name ?? serialized?.id?.at(-1) ?? 'unknown');

/** A tool that asks a question, or hands over to another node, has not failed. */
const isQuestion = (error: unknown): boolean => Object(error).is_bubble_up === true;

/** A tool may tell the model of its failure itself. */
function failureIn({ status, content }: Message): string | undefined {
  if (status !== 'error') return undefined;
  return typeof content === 'string' ? content : JSON.stringify(content);
}

const handlers = new WeakMap<CallLog, readonly [object]>();

/** The handlers of the current run. */
export function callHandlers(): readonly object[] {
  const log = currentCallLog();
  if (log === undefined) return [];
  let own = handlers.get(log);
  if (own === undefined) handlers.set(log, (own = [openHandler(log)]));
  return own;
}

/** A callback manager of the library. */
interface Callbacks {
  readonly handlers: readonly object[];
  copy(handlers: readonly object[]): Callbacks;
}

/**
 * The library writes what a node returned in contexts with this tag, and a handler costs in each of them. The whole task of START
 * has it too, with the author's conditions.
 */
const isHidden = ({ tags, metadata }: ContextConfig): boolean =>
  tags?.includes(HIDDEN_TAG) === true && metadata?.['langgraph_node'] !== START_NODE;

function giveHandlers(config: ContextConfig): void {
  if (isHidden(config)) return;
  const own = callHandlers();
  if (own.length === 0) return;
  const { callbacks } = config as { callbacks?: Callbacks | readonly object[] };
  if (callbacks === undefined) config.callbacks = own;
  else if ('copy' in callbacks) {
    if (!callbacks.handlers.includes(own[0]!)) config.callbacks = callbacks.copy(own);
  } else if (!callbacks.includes(own[0]!)) config.callbacks = [...callbacks, ...own];
}

/** Call it after the library has loaded. */
export const noteLibraryCalls = (): void => seeConfigs(giveHandlers);
