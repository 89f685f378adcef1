import { existsSync, writeFileSync } from 'node:fs';
import { MemorySaver } from '@langchain/langgraph';
import { createAgent, tool } from 'langchain';
import { ScriptedModel, afterTool, lastText } from 'scripted-model';
import { z } from 'zod';

const getWeather = tool(({ city }: { city: string }) => `Sunny in ${city}`, {
  name: 'get_weather',
  description: 'The weather of a city.',
  schema: z.object({ city: z.string() }),
});
const report = tool(
  (_input, config) => {
    (config as any).writer?.({ reported: true });
    return 'reported';
  },
  { name: 'report', description: 'Reports the weather.', schema: z.object({}) },
);

/** Waits for a service that is there at the second visit. */
const order = tool(
  async ({ what }: { what: string }) => {
    const mark = process.env.PROJECT_MARK;
    if (mark !== undefined && !existsSync(mark)) {
      writeFileSync(mark, 'visited');
      await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    }
    return `${what} ordered`;
  },
  { name: 'order', description: 'Orders something.', schema: z.object({ what: z.string() }) },
);

const model: any = new ScriptedModel((messages: any[]) => {
  if (afterTool(messages)) return `The tool says: ${lastText(messages, 'tool')}.`;
  const asked = lastText(messages, 'human');
  if (asked.includes('order')) return { calls: [{ name: 'order', args: { what: 'an umbrella' } }] };
  if (asked.includes('both'))
    return {
      content: 'Let me see.',
      calls: [{ name: 'get_weather', args: { city: 'Rome' } }, { name: 'report' }],
    };
  if (asked.includes('weather')) return { calls: [{ name: 'get_weather', args: { city: 'Paris' } }] };
  return `Hello, ${messages.filter((message) => message.getType() === 'human').length} questions so far.`;
});

const systemPrompt = 'You are a weather bot.';
export const agent = createAgent({ model, tools: [getWeather, report, order], systemPrompt });
export const graph = agent.graph;
export const remembering = createAgent({
  ...{ model, tools: [getWeather], name: 'remembering' },
  checkpointer: new MemorySaver(),
});
