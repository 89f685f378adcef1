import { createAgent, toolStrategy } from 'langchain';
import { ScriptedModel, lastText } from 'scripted-model';
import { z } from 'zod';

const Contact = z.object({ name: z.string(), mail: z.string() });

/** The model answers with the one tool that stands for the answer's form. */
const model: any = new ScriptedModel((messages: any[], tools: any[]) => {
  const { name } = tools.at(-1).function ?? tools.at(-1);
  const [person] = lastText(messages, 'human').split(' ');
  return { calls: [{ name, args: { name: person, mail: `${person}@example.org` } }] };
});

export const agent = createAgent({ model, tools: [], responseFormat: toolStrategy(Contact) });
