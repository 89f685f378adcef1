/** An agent with tools, two of which are called at once, and a question before it books. */
import { AIMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { Annotation, interrupt, MessagesAnnotation, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  budget: Annotation<number>,
  plan: Annotation<object>,
});

const call = (name: string, args: object) => ({
  name,
  args: { ...args },
  id: `call_${name}`,
  type: 'tool_call' as const,
});

const isTool = (message: BaseMessage | undefined): boolean => message?.getType() === 'tool';

export const graph = new StateGraph(State)
  .addNode('model', async ({ messages, budget }) => {
    await new Promise((resolve) => setTimeout(resolve, 120));
    if (!isTool(messages.at(-1)))
      return {
        budget: budget ?? 900,
        messages: [
          new AIMessage({
            content: 'Let me look at trains and hotels.',
            tool_calls: [
              call('search_trains', { to: 'Rome', from: 'Ulm' }),
              call('search_hotels', { city: 'Rome', nights: 3 }),
            ],
            usage_metadata: { input_tokens: 812, output_tokens: 41, total_tokens: 853 },
          }),
        ],
      };
    return {
      messages: [
        new AIMessage({
          content: 'The night train costs 89 € and a room near Termini 97 € a night. Shall I book both?',
          usage_metadata: { input_tokens: 930, output_tokens: 33, total_tokens: 963 },
        }),
      ],
      budget: 520,
    };
  })
  .addNode('tools', async () => {
    await new Promise((resolve) => setTimeout(resolve, 40));
    return {
      messages: [
        new ToolMessage({
          content: '3 trains, from 89 €',
          tool_call_id: 'call_search_trains',
          name: 'search_trains',
        }),
        new ToolMessage({
          content: 'no answer within 5 s',
          tool_call_id: 'call_search_hotels',
          name: 'search_hotels',
          status: 'error',
        }),
      ],
      plan: { train: { name: 'Nightjet 295', price: 89 }, hotel: null },
    };
  })
  .addNode('ask', () => {
    const answer = interrupt<unknown, unknown>({ question: 'Book it?', price: 380 });
    return {
      plan: { train: { name: 'Nightjet 295', price: 89 }, hotel: { name: 'Termini', nights: 3 }, answer },
    };
  })
  .addNode('book', () => ({ messages: [new AIMessage('Booked. Have a good journey!')] }))
  .addEdge('__start__', 'model')
  .addConditionalEdges(
    'model',
    ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : 'ask'),
    ['tools', 'ask'],
  )
  .addEdge('tools', 'model')
  .addEdge('ask', 'book')
  .compile();
