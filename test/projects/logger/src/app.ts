import { getLogger } from '@langchain/langgraph-sdk/logging';
import { Hono } from 'hono';

const logger = getLogger();

export const app = new Hono().get('/logged', (c) => {
  logger.info('asked for');
  return c.text('logged');
});
