import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('remember', async ({ messages }, { store, configurable }: LangGraphRunnableConfig) => {
    const namespace = ['people', String(configurable?.person ?? 'unknown')];
    const text = String(messages.at(-1)!.content);
    if (text.startsWith('remember '))
      await store!.put(namespace, text.slice(9).split(' ')[0]!, { text: text.slice(9) });
    if (text.startsWith('forget ')) await store!.delete(namespace, text.slice(7));
    const found = await store!.search(['people'], { limit: 10 });
    const one = await store!.get(namespace, 'tea');
    const known = found.map(({ key }) => key).sort();
    const content = `known: ${known.join(', ')}; tea: ${one?.value.text ?? 'none'}`;
    return { messages: [{ role: 'assistant', content }] };
  })
  .addEdge(START, 'remember')
  .compile();
