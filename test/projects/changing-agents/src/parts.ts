/** Tools and models of agents whose re-execution differs from their recording in the place that the question names. */
import { tool } from '@langchain/core/tools';
import { ScriptedModel, lastText } from 'scripted-model';
import { z } from 'zod';

const isPlanted = process.env['PLANTED'] === 'yes';
const url = (query: string): string => `${process.env['MODEL_URL'] ?? ''}/do?${query}`;
export const ask = async (query: string, body?: unknown): Promise<string> =>
  (await fetch(url(query), { method: 'POST', body: JSON.stringify(body ?? null) })).text();

/** A question names the change: `change:NAME`. */
export const isChange = (question: string, change: string): boolean =>
  isPlanted && question.includes(`change:${change}.`);
export const instead = <T>(question: string, change: string, usual: T, other: T): T =>
  isChange(question, change) ? other : usual;

const question = z.string();

export const look = tool(
  async ({ city, asked }: { city: string; asked: string }, config: any) => {
    const text = await ask(`look=${encodeURIComponent(city)}&delay=6`, instead(asked, 'request body', 1, 2));
    if (isChange(asked, 'additional request')) await ask('additional');
    if (!isChange(asked, 'missing request')) await ask('missing');
    config.writer?.({ looked: instead(asked, 'frame', city, 'elsewhere') });
    if (isChange(asked, 'thrown in a tool')) throw new Error('planted');
    return instead(asked, 'result of a tool', text, `${text}!`);
  },
  { name: 'look', description: 'Looks.', schema: z.object({ city: z.string(), asked: question }) },
);

export const keep = tool(
  async ({ what, asked }: { what: string; asked: string }, config: any) => {
    await config.store.put(['kept'], 'a', { what: instead(asked, 'value of an item', what, 'other') });
    if (!isChange(asked, 'missing item')) await config.store.put(['kept'], 'b', {});
    if (isChange(asked, 'additional item')) await config.store.put(['kept'], 'c', {});
    return `kept ${instead(asked, 'use of an argument', what, what.toUpperCase())} at ${Date.now()}`;
  },
  { name: 'keep', description: 'Keeps.', schema: z.object({ what: z.string(), asked: question }) },
);

/** A model that asks a server, and answers what `answer` says. */
export class ServedModel extends ScriptedModel {
  override bindTools(tools: any): any {
    return new ServedModel(this.answer, { ...this.fields, tools });
  }
  override async *_streamResponseChunks(messages: any[], ...rest: any[]): any {
    await this.request(messages);
    yield* super._streamResponseChunks(messages, ...rest);
  }
  override async _generate(messages: any[]): Promise<any> {
    await this.request(messages);
    return super._generate(messages);
  }
  async request(messages: any[]): Promise<void> {
    const asked = String(messages.find((message) => message.getType() === 'human')?.content);
    const texts = messages.map(({ content }) => content);
    await ask('model', instead(asked, 'prompt', texts, [...texts.slice(0, -1), `${String(texts.at(-1))}!`]));
    if (isChange(asked, 'additional model call')) await ask('model again');
  }
}

const toolsOf = (messages: any[]): number => messages.filter((each) => each.getType() === 'tool').length;

/** Two tools at once, one more, then a text. */
export const model: any = new ServedModel((messages: any[]) => {
  const asked = lastText(messages, 'human');
  const call = (name: string, args: object) => ({ name, args: { ...args, asked } });
  const pair = [
    call('look', { city: instead(asked, 'argument of a tool', 'Rome', 'Bern') }),
    call('keep', { what: 'shells' }),
  ];
  if (toolsOf(messages) === 0) {
    if (isChange(asked, 'order of tools')) return { calls: pair.toReversed() };
    return { calls: isChange(asked, 'missing tool') ? pair.slice(1) : pair };
  }
  if (toolsOf(messages) < 3)
    return { calls: [call(instead(asked, 'another tool', 'look', 'keep'), { city: 'Oslo', what: 'x' })] };
  if (toolsOf(messages) === 3 && isChange(asked, 'additional round')) return { calls: [pair[0]!] };
  return instead(asked, 'last message', 'Done.', 'Done!');
});
