/** All endpoints of the API. */
import { cronChangeEndpoints } from './crons/changes.ts';
import { cronEndpoints } from './crons/crons.ts';
import { assistantEndpoints } from './assistants/assistants.ts';
import { assistantChangeEndpoints } from './assistants/changes.ts';
import { assistantGraphEndpoints } from './assistants/graphs.ts';
import { systemEndpoints } from './system/system.ts';
import { protocolEndpoints } from './protocol/protocol.ts';
import type { Endpoint } from './endpoint.ts';
import { storeEndpoints } from './store/store.ts';
import { webhookEndpoints } from './webhooks/webhooks.ts';

export const ENDPOINTS: readonly Endpoint[] = [
  ...cronEndpoints,
  ...cronChangeEndpoints,
  ...webhookEndpoints,
  ...storeEndpoints,
  ...assistantEndpoints,
  ...assistantChangeEndpoints,
  ...assistantGraphEndpoints,
  ...systemEndpoints,
  ...protocolEndpoints,
];
