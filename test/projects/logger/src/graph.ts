import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { getLogger } from '@langchain/langgraph-sdk/logging';

const logger = getLogger();
logger.info('the module is loaded');

export const graph = new StateGraph(Annotation.Root({ done: Annotation<boolean>() }))
  .addNode('work', () => {
    logger.warn('working', { node: 'work' }).error('still working');
    return { done: true };
  })
  .addEdge(START, 'work')
  .compile();
