/** A deep agent that asks two subagents at once, each of which asks a tool; models and tools ask the test's server. */
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { createDeepAgent } from 'deepagents';
import { tool } from 'langchain';
import { z } from 'zod';
import { ask } from './graph.ts';

interface ToolCall {
  readonly name: string;
  readonly args: object;
  readonly id: string;
}

/** Calls its tools at once, then answers. */
class Model extends BaseChatModel {
  readonly own: string;
  readonly calls: readonly ToolCall[];
  constructor(own: string, calls: readonly ToolCall[]) {
    super({});
    this.own = own;
    this.calls = calls;
  }
  _llmType(): string {
    return 'test';
  }
  override bindTools(): this {
    return this;
  }
  async _generate(messages: BaseMessage[]) {
    const isAnswered = messages.some(({ type }) => type === 'tool');
    const text = await ask(`${this.own} ${isAnswered ? 'answers' : 'asks'}`, '/stream');
    const tool_calls = isAnswered ? [] : [...this.calls];
    return { generations: [{ text, message: new AIMessage({ content: text, tool_calls }) }] };
  }
}

const search = tool(async ({ what }: { what: string }) => ask(`search for ${what}`), {
  name: 'search',
  description: 'searches',
  schema: z.object({ what: z.string() }),
});

const NAMES = ['finder', 'checker'];

const subagents = NAMES.map((name) => ({
  ...{ name, description: name, systemPrompt: name, tools: [search] },
  model: new Model(name, [{ name: 'search', args: { what: name }, id: `call_search_${name}` }]),
}));

const tasks = NAMES.map((name) => ({
  ...{ name: 'task', args: { description: name, subagent_type: name }, id: `call_${name}` },
}));

export const deep = createDeepAgent({ model: new Model('agent', tasks), subagents } as object);
