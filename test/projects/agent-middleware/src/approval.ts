import { createAgent, humanInTheLoopMiddleware, tool } from 'langchain';
import { ScriptedModel, afterTool, lastText } from 'scripted-model';
import { z } from 'zod';

const sendMail = tool(({ to, text }: { to: string; text: string }) => `Sent "${text}" to ${to}`, {
  name: 'send_mail',
  description: 'Sends a mail.',
  schema: z.object({ to: z.string(), text: z.string() }),
});
const readMail = tool(() => 'No mail', {
  name: 'read_mail',
  description: 'Reads mail.',
  schema: z.object({}),
});

const model: any = new ScriptedModel((messages: any[]) =>
  afterTool(messages)
    ? `Done: ${lastText(messages, 'tool')}`
    : { calls: [{ name: 'read_mail' }, { name: 'send_mail', args: { to: 'ada', text: 'hi' } }] },
);

export const agent = createAgent({
  model,
  tools: [sendMail, readMail],
  middleware: [
    humanInTheLoopMiddleware({
      interruptOn: { send_mail: { allowedDecisions: ['approve', 'edit', 'reject'] }, read_mail: false },
    }),
  ],
});
