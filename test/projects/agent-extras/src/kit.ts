import { Command, interrupt } from '@langchain/langgraph';
import {
  contextEditingMiddleware,
  createAgent,
  createMiddleware,
  dynamicSystemPromptMiddleware,
  piiMiddleware,
  todoListMiddleware,
  tool,
  ToolMessage,
  toolRetryMiddleware,
} from 'langchain';
import { ScriptedModel, afterTool, lastText } from 'scripted-model';
import { z } from 'zod';

let failures = 0;
const shaky = tool(
  () => {
    failures += 1;
    if (failures % 2 === 1) throw new Error('shaky');
    return 'steady';
  },
  { name: 'shaky', description: 'Fails every other time.', schema: z.object({}) },
);
const rename = tool(
  ({ name }: { name: string }, config: any) =>
    new Command({
      update: {
        userName: name,
        messages: [
          new ToolMessage({
            content: `renamed to ${name}`,
            tool_call_id: config.toolCall?.id ?? config.toolCallId,
          }),
        ],
      },
    }),
  { name: 'rename', description: 'Renames the user.', schema: z.object({ name: z.string() }) },
);
const confirm = tool(() => `confirmed with ${interrupt('sure?')}`, {
  name: 'confirm',
  description: 'Asks.',
  schema: z.object({}),
});

const model: any = new ScriptedModel((messages: any[]) => {
  if (afterTool(messages)) return `After ${lastText(messages, 'tool')}`;
  const asked = lastText(messages, 'human');
  for (const name of ['shaky', 'confirm', 'rename'])
    if (asked.includes(name)) return { calls: [{ name, args: name === 'rename' ? { name: 'Ada' } : {} }] };
  return `${lastText(messages, 'system').slice(0, 30)}: ${asked}`;
});

const named = createMiddleware({
  name: 'Named',
  stateSchema: z.object({ userName: z.string().default('nobody') }),
});

export const agent = createAgent({
  model,
  tools: [shaky, rename, confirm],
  middleware: [
    named,
    dynamicSystemPromptMiddleware((state: any) => `You serve ${state.userName}.`),
    piiMiddleware('email', { strategy: 'redact', applyToInput: true }),
    toolRetryMiddleware({ maxRetries: 1, tools: ['shaky'], initialDelayMs: 1, jitter: false }),
    todoListMiddleware(),
    contextEditingMiddleware(),
  ],
});
