import { createAgent, summarizationMiddleware } from 'langchain';
import { ScriptedModel, lastText } from 'scripted-model';

const talker: any = new ScriptedModel(
  (messages: any[]) => `reply ${messages.length} to ${lastText(messages, 'human')}`,
);
const summariser: any = new ScriptedModel(() => 'They talked about fruit.');

export const agent = createAgent({
  model: talker,
  tools: [],
  middleware: [
    summarizationMiddleware({ model: summariser, trigger: { messages: 4 }, keep: { messages: 2 } }),
  ],
});
