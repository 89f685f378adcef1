/** All operations of the API. */
import { assistantOperations } from './assistants.ts';
import { cronOperations } from './crons.ts';
import type { Operation } from './operation.ts';
import { protocolOperations } from './protocol.ts';
import { runOperations } from './runs.ts';
import { storeOperations } from './store.ts';
import { systemOperations } from './system.ts';
import { threadStateOperations } from './thread-state.ts';
import { threadOperations } from './threads.ts';
import { webhookOperations } from './webhooks.ts';

export const OPERATIONS: readonly Operation[] = [
  ...assistantOperations,
  ...threadOperations,
  ...threadStateOperations,
  ...runOperations,
  ...cronOperations,
  ...webhookOperations,
  ...storeOperations,
  ...protocolOperations,
  ...systemOperations,
];
