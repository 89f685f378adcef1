import { createAgent, createMiddleware } from 'langchain';
import { ScriptedModel, lastText } from 'scripted-model';
import { z } from 'zod';

const counting = createMiddleware({
  name: 'Counting',
  stateSchema: z.object({ calls: z.number().default(0), _secret: z.string().optional() }),
  contextSchema: z.object({ language: z.string().default('English') }),
  beforeModel: (state) => ({ calls: state.calls + 1, _secret: 'private' }),
  wrapModelCall: (request, handler) =>
    handler({ ...request, systemPrompt: `Speak ${(request.runtime.context as any)?.language}.` } as never),
  afterAgent: { canJumpTo: ['end'], hook: () => undefined },
});

const model: any = new ScriptedModel(
  (messages: any[]) => `${lastText(messages, 'system')} You said ${lastText(messages, 'human')}`,
);

export const agent = createAgent({ model, tools: [], middleware: [counting] });
