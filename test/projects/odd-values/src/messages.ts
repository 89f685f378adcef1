import { AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('add', () => ({
    messages: [
      new SystemMessage({ content: 'be kind', id: 'system' }),
      new HumanMessage({
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
        id: 'picture',
        name: 'ada',
        additional_kwargs: { extra: [1, { two: 2 }] },
      }),
      new AIMessage({
        content: '',
        id: 'calls',
        tool_calls: [{ name: 'look', args: { deep: { er: true } }, id: 'call-1', type: 'tool_call' }],
        invalid_tool_calls: [{ name: 'bad', args: '{', id: 'call-2', error: 'no JSON' }],
        response_metadata: { model: 'none', finish: 'tool_calls' },
        usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
      }),
      new ToolMessage({
        content: 'seen',
        id: 'tool',
        tool_call_id: 'call-1',
        name: 'look',
        artifact: { raw: [1, 2, 3] },
        status: 'error',
      }),
    ],
  }))
  .addNode('remove', () => ({ messages: [new RemoveMessage({ id: 'system' })] }))
  .addNode('replace', () => ({ messages: [{ role: 'assistant', content: 'replaced', id: 'calls' }] }))
  .addEdge(START, 'add')
  .addEdge('add', 'remove')
  .addEdge('remove', 'replace')
  .compile();
