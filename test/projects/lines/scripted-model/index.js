/**
 * A chat model whose answers a function gives, for projects that must run without a network. It streams as OpenAI's
 * models do: all pieces have one id except the last, which only tells the usage.
 */
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';

export class ScriptedModel extends BaseChatModel {
  /** `answer(messages, tools)` returns a text, or `{ content?, calls? }` with `calls` as `[{ name, args }]`. */
  constructor(answer, { tools = [], ...fields } = {}) {
    super(fields);
    this.answer = answer;
    this.tools = tools;
    this.fields = fields;
  }

  _llmType() {
    return 'scripted';
  }

  bindTools(tools) {
    return new ScriptedModel(this.answer, { ...this.fields, tools });
  }

  #reply(messages) {
    const given = this.answer(messages, this.tools);
    const { content = '', calls = [] } = typeof given === 'string' ? { content: given } : given;
    const tool_calls = calls.map(({ name, args = {} }, i) => ({
      ...{ name, args, id: `call_${name}_${messages.length}_${i}`, type: 'tool_call' },
    }));
    const total = content.length + JSON.stringify(calls).length;
    const usage = {
      input_tokens: messages.length,
      output_tokens: total,
      total_tokens: messages.length + total,
    };
    return { id: `chatcmpl-${crypto.randomUUID()}`, content, tool_calls, usage };
  }

  async _generate(messages) {
    const { id, content, tool_calls, usage } = this.#reply(messages);
    const message = new AIMessage({ id, content, tool_calls, usage_metadata: usage });
    return { generations: [{ text: content, message }] };
  }

  async *_streamResponseChunks(messages, _options, manager) {
    const { id, content, tool_calls, usage } = this.#reply(messages);
    const pieces = (content.match(/\S+\s*/g) ?? ['']).map((text) => ({ id, content: text }));
    const tool_call_chunks = tool_calls.map(({ name, args, id: callId }, index) => ({
      ...{ name, args: JSON.stringify(args), id: callId, index, type: 'tool_call_chunk' },
    }));
    if (tool_call_chunks.length > 0) pieces.push({ id, content: '', tool_call_chunks });
    pieces.push({ content: '', usage_metadata: usage });
    for (const fields of pieces) {
      const text = fields.content;
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(fields) });
      yield chunk;
      await manager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

/** The text of the newest message of a type, such as `human`. */
export const lastText = (messages, type) =>
  String(messages.findLast((message) => message.getType() === type)?.content ?? '');

/** The newest message is a tool's. */
export const afterTool = (messages) => messages.at(-1)?.getType() === 'tool';
