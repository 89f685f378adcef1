/** All endpoints of the API. */
import type { Endpoint } from './endpoint.ts';
import { storeEndpoints } from './store/store.ts';
import { webhookEndpoints } from './webhooks/webhooks.ts';

export const ENDPOINTS: readonly Endpoint[] = [...webhookEndpoints, ...storeEndpoints];
