/** Streams as many tokens as its message asks for. When it also says "wait", it waits halfway for `MODEL_URL`/gate. */
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';

class Writer extends BaseChatModel {
  constructor() {
    super({});
  }
  _llmType(): string {
    return 'writer';
  }
  async _generate(): Promise<never> {
    throw new Error('only streams');
  }
  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: object,
    run?: { handleLLMNewToken(token: string): Promise<void> },
  ) {
    const asked = messages.at(-1)!.text;
    const count = Number(/\d+/.exec(asked)?.[0] ?? 20);
    for (let at = 0; at < count; at++) {
      if (asked.includes('wait') && at === Math.floor(count / 2))
        await fetch(`${process.env['MODEL_URL']}/gate`);
      const text = `w${at} `;
      yield new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
      await run?.handleLLMNewToken(text);
    }
  }
}

const model = new Writer();

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('write', async ({ messages }) => {
    let whole: AIMessageChunk | undefined;
    for await (const chunk of await model.stream(messages)) whole = whole?.concat(chunk) ?? chunk;
    return { messages: [new AIMessage({ content: whole?.text ?? '', id: whole!.id! })] };
  })
  .addEdge('__start__', 'write')
  .compile();
