import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { createHandoffTool, createSwarm } from '@langchain/langgraph-swarm';
import { ScriptedModel, afterTool, lastText } from 'scripted-model';

const speaker = (name, other, word) =>
  createReactAgent({
    llm: new ScriptedModel((messages) => {
      const asked = lastText(messages, 'human');
      if (!afterTool(messages) && asked.includes(word)) return { calls: [{ name: `transfer_to_${other}` }] };
      return `${name} here, about ${asked}`;
    }),
    tools: [createHandoffTool({ agentName: other })],
    name,
    prompt: `You are ${name}.`,
  });

// The builder itself is exported: the platform compiles it.
export const workflow = createSwarm({
  agents: [speaker('alice', 'bob', 'boats'), speaker('bob', 'alice', 'apples')],
  defaultActiveAgent: 'alice',
});
