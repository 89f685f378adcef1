/** All endpoints of the API, in the order of the OpenAPI document. */
import { assistantEndpoints } from './assistants/assistants.ts';
import { assistantChangeEndpoints } from './assistants/changes.ts';
import { assistantGraphEndpoints } from './assistants/graphs.ts';
import { cronChangeEndpoints } from './crons/changes.ts';
import { cronEndpoints } from './crons/crons.ts';
import type { Endpoint } from './endpoint.ts';
import { protocolEndpoints } from './protocol/protocol.ts';
import { runCallEndpoints } from './runs/calls.ts';
import { runCreationEndpoints } from './runs/create.ts';
import { runDiffEndpoints } from './runs/diff.ts';
import { runReplayEndpoints } from './runs/replay.ts';
import { runReportEndpoints } from './runs/report.ts';
import { runEndEndpoints } from './runs/ends.ts';
import { runsEverywhereEndpoints } from './runs/everywhere.ts';
import { runGroupEndpoints } from './runs/groups.ts';
import { runReadEndpoints } from './runs/reads.ts';
import { storeEndpoints } from './store/store.ts';
import { serverEndpoints } from './system/server.ts';
import { openedEndpoints } from './studio/opened.ts';
import { systemEndpoints } from './system/system.ts';
import { threadCarriageEndpoints } from './threads/carriage.ts';
import { threadEventEndpoints } from './threads/events.ts';
import { threadMaintenanceEndpoints } from './threads/maintenance.ts';
import { threadSearchEndpoints } from './threads/search.ts';
import { threadStateEndpoints } from './threads/state.ts';
import { threadStreamEndpoints } from './threads/stream.ts';
import { threadEndpoints } from './threads/threads.ts';
import { webhookEndpoints } from './webhooks/webhooks.ts';

export const ENDPOINTS: readonly Endpoint[] = [
  ...assistantChangeEndpoints,
  ...assistantEndpoints,
  ...assistantGraphEndpoints,
  ...threadEndpoints,
  ...threadSearchEndpoints,
  ...threadMaintenanceEndpoints,
  ...threadCarriageEndpoints,
  ...threadStateEndpoints,
  ...threadEventEndpoints,
  ...threadStreamEndpoints,
  ...runCreationEndpoints,
  ...runReadEndpoints,
  ...runCallEndpoints,
  ...runsEverywhereEndpoints,
  ...runDiffEndpoints,
  ...runReplayEndpoints,
  ...runReportEndpoints,
  ...runEndEndpoints,
  ...runGroupEndpoints,
  ...cronChangeEndpoints,
  ...cronEndpoints,
  ...webhookEndpoints,
  ...storeEndpoints,
  ...protocolEndpoints,
  ...systemEndpoints,
  ...serverEndpoints,
  ...openedEndpoints,
];
