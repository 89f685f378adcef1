/** The files of the template `agent`: an agent with two tools that needs no key until a model is named. */

export const AGENT = `import { createAgent, initChatModel, tool } from 'langchain';
import { interrupt, type BaseCheckpointSaver } from '@langchain/langgraph';
import { z } from 'zod';
import { StandIn } from './stand-in.ts';

const weather = tool(({ city }) => \`It is sunny in \${city}, 21 °C.\`, {
  name: 'weather',
  description: 'Tells the weather of a city.',
  schema: z.object({ city: z.string() }),
});

// Asks a person before it acts: the run pauses here, and goes on with the answer, after a restart too.
const bookHotel = tool(
  ({ city, nights }) => {
    const approved = interrupt({ question: \`Book a hotel in \${city}?\`, nights });
    return approved === true ? \`Booked \${nights} nights in \${city}.\` : 'The user does not want this.';
  },
  {
    name: 'book_hotel',
    description: 'Books a hotel.',
    schema: z.object({ city: z.string(), nights: z.number() }),
  },
);

// MODEL in .env names a model with its provider, for example openai:gpt-5. Without it a stand-in answers.
const model = process.env.MODEL ? await initChatModel(process.env.MODEL) : new StandIn();

export const makeAgent = (checkpointer?: BaseCheckpointSaver) =>
  createAgent({
    model,
    tools: [weather, bookHotel],
    systemPrompt: 'You plan short trips.',
    ...(checkpointer && { checkpointer }),
  });

export const graph = makeAgent();
`;

export const STAND_IN = `import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';

/** Pretends to be a model: needs no key and no network. Delete this file when MODEL names a real one. */
export class StandIn extends BaseChatModel {
  constructor() {
    super({});
  }

  _llmType() {
    return 'stand-in';
  }

  override bindTools() {
    return this;
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = answer(messages);
    return { generations: [{ message, text: message.text }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    run?: CallbackManagerForLLMRun,
  ) {
    const { text, tool_calls: calls = [] } = answer(messages);
    const tool_call_chunks = calls.map(({ name, args, id }, index) => ({
      ...{ type: 'tool_call_chunk' as const, name, args: JSON.stringify(args), index },
      ...(id && { id }),
    }));
    for (const content of text === '' ? [''] : text.split(/(?<= )/)) {
      yield new ChatGenerationChunk({
        text: content,
        message: new AIMessageChunk({ content, tool_call_chunks: text === '' ? tool_call_chunks : [] }),
      });
      await run?.handleLLMNewToken(content);
    }
  }
}

function answer(messages: BaseMessage[]): AIMessage {
  const last = messages.at(-1);
  const text = last?.text ?? '';
  if (last?.type === 'tool') return new AIMessage(text);
  const city = /\\bin ([A-Z]\\w+)/.exec(text)?.[1] ?? 'Paris';
  const call = (name: string, args: object) =>
    new AIMessage({ content: '', tool_calls: [{ name, args: { city, ...args }, id: \`call-\${messages.length}\` }] });
  if (/weather/i.test(text)) return call('weather', {});
  if (/book|hotel/i.test(text)) return call('book_hotel', { nights: 2 });
  return new AIMessage('I am a stand-in. Ask for the weather in Paris, or to book a hotel in Rome.');
}
`;

export const AGENT_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command, MemorySaver } from '@langchain/langgraph';
import { makeAgent } from './agent.ts';

const thread = { configurable: { thread_id: 'test' } };
const ask = (content: string) => ({ messages: [{ role: 'user', content }] });

test('the agent uses its tools, and asks before it books', async () => {
  const agent = makeAgent(new MemorySaver());
  const sunny = await agent.invoke(ask('What is the weather in Oslo?'), thread);
  assert.match(sunny.messages.at(-1)!.text, /Oslo/);

  const asked = await agent.invoke(ask('Book a hotel in Rome.'), thread);
  assert.equal(asked.messages.at(-1)?.type, 'ai');
  const booked = await agent.invoke(new Command({ resume: true }), thread);
  assert.match(booked.messages.at(-1)!.text, /Booked .* in Rome/);
});
`;

export const ENV = `# A model with its provider, and the provider's key; then npm install @langchain/openai (or another provider's).
# MODEL=openai:gpt-5
# OPENAI_API_KEY=
`;

/** Commands of a project in a shell. */
export interface Commands {
  readonly dev: string;
  readonly test: string;
}

export const readmeOf = (title: string, { dev, test }: Commands): string => `# ${title}

An agent with two tools, one of which asks before it acts.

    npm install
    ${dev.padEnd(15)} # serves it on http://127.0.0.1:2024 and takes over each saved file
    ${test.padEnd(15)} # runs agent.test.ts

A stand-in answers until \`.env\` names a model and its key (see \`.env.example\`).
`;
