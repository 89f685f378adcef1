import { createDeepAgent } from 'deepagents';
import { createAgent } from 'langchain';
import { afterTool, lastText } from 'scripted-model';
import { instead, isChange, keep, look, model, ServedModel } from './parts.ts';

export const agent = createAgent({ model, tools: [look, keep], systemPrompt: 'You look.' });

const finder: any = new ServedModel((messages: any[]) => {
  const asked = lastText(messages, 'human');
  if (afterTool(messages)) return instead(asked, 'answer of a subagent', 'Found.', 'Found!');
  return { calls: [{ name: 'look', args: { city: 'Rome', asked } }] };
});

const lead: any = new ServedModel((messages: any[]) => {
  const asked = lastText(messages, 'human');
  const done = messages.filter((each) => each.getType() === 'tool').length;
  const content = instead(asked, 'to-do', 'look', 'look twice');
  if (done === 0)
    return { calls: [{ name: 'write_todos', args: { todos: [{ content, status: 'in_progress' }] } }] };
  const order = { description: `Find. ${asked}`, subagent_type: 'finder' };
  const second = {
    ...order,
    description: instead(asked, 'order to a subagent', order.description, `Look. ${asked}`),
  };
  const orders = [
    { name: 'task', args: order },
    { name: 'task', args: second },
  ];
  if (done === 1) return { calls: isChange(asked, 'missing subagent') ? orders.slice(1) : orders };
  if (done < 4 && !isChange(asked, 'missing file'))
    return {
      calls: [
        {
          name: 'write_file',
          args: { file_path: '/notes.md', content: instead(asked, 'file', '# a', '# b') },
        },
      ],
    };
  return 'Reported.';
});

export const deep = createDeepAgent({
  model: lead,
  subagents: [
    { name: 'finder', description: 'Finds.', systemPrompt: 'You find.', tools: [look] as any, model: finder },
  ],
} as any);
