/** All operations of the API. */
import type { Operation } from '../endpoint.ts';
import { runOperations } from './runs.ts';
import { threadStateOperations } from './thread-state.ts';
import { threadOperations } from './threads.ts';
import { ENDPOINTS } from '../endpoints.ts';

export const OPERATIONS: readonly Operation[] = [
  ...threadOperations,
  ...threadStateOperations,
  ...runOperations,
  ...ENDPOINTS,
];
