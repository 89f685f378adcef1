import { fileURLToPath } from 'node:url';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { createAgent } from 'langchain';
import { ScriptedModel, afterTool, lastText } from 'scripted-model';

const client = new MultiServerMCPClient({
  mcpServers: {
    clock: {
      transport: 'stdio',
      command: process.execPath,
      args: [fileURLToPath(new URL('./server.mjs', import.meta.url))],
    },
  },
});
const tools = await client.getTools();

const model: any = new ScriptedModel((messages: any[]) =>
  afterTool(messages)
    ? `The clock says: ${JSON.stringify(messages.at(-1).content)}`
    : { calls: [{ name: 'tell_time', args: { town: lastText(messages, 'human') } }] },
);

export const agent = createAgent({ model, tools });
