import { createAgent, modelCallLimitMiddleware, tool, toolCallLimitMiddleware } from 'langchain';
import { ScriptedModel } from 'scripted-model';
import { z } from 'zod';

const search = tool(({ what }: { what: string }) => `Nothing about ${what}`, {
  name: 'search',
  description: 'Searches.',
  schema: z.object({ what: z.string() }),
});
const model: any = new ScriptedModel((messages: any[]) => ({
  calls: [{ name: 'search', args: { what: `try ${messages.length}` } }],
}));

export const agent = createAgent({
  model,
  tools: [search],
  middleware: [
    toolCallLimitMiddleware({ toolName: 'search', runLimit: 2, exitBehavior: 'continue' }),
    modelCallLimitMiddleware({ threadLimit: 6, runLimit: 4, exitBehavior: 'end' }),
  ],
});
