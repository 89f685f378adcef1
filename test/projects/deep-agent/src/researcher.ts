import { createDeepAgent } from 'deepagents';
import { tool } from 'langchain';
import { ScriptedModel, afterTool, lastText } from 'scripted-model';
import { z } from 'zod';

const search = tool(({ what }: { what: string }) => `Found: ${what} is old.`, {
  name: 'search',
  description: 'Searches the library.',
  schema: z.object({ what: z.string() }),
});

const finder: any = new ScriptedModel((messages: any[]) =>
  afterTool(messages)
    ? `I found ${lastText(messages, 'tool')}`
    : { content: 'Searching.', calls: [{ name: 'search', args: { what: lastText(messages, 'human') } }] },
);

const model: any = new ScriptedModel((messages: any[]) => {
  const done = messages.filter((message) => message.getType() === 'tool').length;
  const topic = lastText(messages, 'human');
  if (done % 3 === 0 && !afterTool(messages))
    return {
      calls: [
        { name: 'write_todos', args: { todos: [{ content: `ask about ${topic}`, status: 'in_progress' }] } },
      ],
    };
  if (done % 3 === 1)
    return { calls: [{ name: 'task', args: { description: topic, subagent_type: 'finder' } }] };
  if (done % 3 === 2)
    return { calls: [{ name: 'write_file', args: { file_path: '/notes.md', content: `# ${topic}` } }] };
  return `Report on ${topic}.`;
});

const options: any = {
  model,
  systemPrompt: 'You research.',
  subagents: [
    {
      name: 'finder',
      description: 'Finds things.',
      systemPrompt: 'You find.',
      tools: [search],
      model: finder,
    },
  ],
};

export const agent = createDeepAgent(options);
export const makeAgent = () => createDeepAgent(options);
