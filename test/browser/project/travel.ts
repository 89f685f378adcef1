/** An agent that asks a model over HTTP, calls two tools at once, one of which fails, and asks before it books. */
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { Annotation, interrupt, MessagesAnnotation, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  budget: Annotation<number>,
  plan: Annotation<object>,
});

/** Sends the messages to the server that `MODEL_URL` names. */
class HttpModel extends BaseChatModel {
  constructor() {
    super({});
  }
  _llmType(): string {
    return 'http';
  }
  async _generate(messages: BaseMessage[]) {
    const body = JSON.stringify({ model: 'traveller-2', messages: messages.map(({ text }) => text) });
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(process.env['MODEL_URL']!, { method: 'POST', headers, body });
    const message = new AIMessage((await reply.json()) as ConstructorParameters<typeof AIMessage>[0]);
    return { generations: [{ text: message.text, message }] };
  }
}

const model = new HttpModel();

export const graph = new StateGraph(State)
  .addNode('model', async ({ messages, budget }) => ({
    budget: budget === undefined ? 900 : 520,
    messages: [await model.invoke(messages)],
  }))
  .addNode('tools', () => ({
    messages: [
      new ToolMessage({ content: '3 trains, from 89 €', tool_call_id: 'call_trains', name: 'search_trains' }),
      new ToolMessage({
        content: 'no answer within 5 s',
        tool_call_id: 'call_hotels',
        name: 'search_hotels',
        status: 'error',
      }),
    ],
    plan: { train: { name: 'Nightjet 295', price: 89 }, hotel: null },
  }))
  .addNode('ask', ({ plan }) => ({
    plan: { ...plan, booked: interrupt({ question: 'Book it?', price: 89 }) },
  }))
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
