import { createDeepAgent, StateBackend, StoreBackend, CompositeBackend } from 'deepagents';
import { tool } from 'langchain';
import { ScriptedModel, afterTool, lastText } from 'scripted-model';
import { z } from 'zod';

const publish = tool(({ text }: { text: string }) => `published ${text}`, {
  name: 'publish',
  description: 'Publishes a text.',
  schema: z.object({ text: z.string() }),
});

const editor: any = new ScriptedModel((messages: any[]) =>
  afterTool(messages)
    ? `The editor: ${lastText(messages, 'tool')}`
    : { calls: [{ name: 'publish', args: { text: lastText(messages, 'human') } }] },
);

const model: any = new ScriptedModel((messages: any[]) => {
  const topic = lastText(messages, 'human');
  const done = messages.slice(messages.findLastIndex((message: any) => message.getType() === 'human') + 1);
  const results = done.filter((message: any) => message.getType() === 'tool').length;
  if (results === 0)
    return {
      calls: [
        { name: 'write_file', args: { file_path: `/memories/${topic}.md`, content: `about ${topic}` } },
        { name: 'ls', args: { path: '/memories/' } },
      ],
    };
  if (results === 2)
    return {
      content: 'Two editors.',
      calls: [
        { name: 'task', args: { description: `${topic} one`, subagent_type: 'editor' } },
        { name: 'task', args: { description: `${topic} two`, subagent_type: 'editor' } },
      ],
    };
  return `All about ${topic}.`;
});

export const agent = createDeepAgent({
  model,
  backend: (config: any) =>
    new CompositeBackend(new StateBackend(config), { '/memories/': new StoreBackend(config) }),
  subagents: [
    {
      name: 'editor',
      description: 'Edits.',
      systemPrompt: 'You edit.',
      tools: [publish],
      model: editor,
      interruptOn: { publish: true },
    },
  ],
} as any);
