import { z } from 'zod';
import { assistantSearch } from '../schemas/assistants.ts';
import { json, PAGE_HEADERS, problems, type Operation } from './operation.ts';
import { assistant } from './shapes.ts';

export const assistantOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/assistants/search',
    tag: 'assistants',
    summary: 'Search assistants',
    body: assistantSearch,
    replies: { 200: json(z.array(assistant), 'A page of assistants', PAGE_HEADERS) },
  },
  {
    method: 'get',
    path: '/assistants/{assistant_id}',
    tag: 'assistants',
    summary: 'Get an assistant',
    replies: { 200: json(assistant, 'The assistant'), ...problems(404) },
  },
];
