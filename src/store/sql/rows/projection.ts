/**
 * All derived rows. P1 They are written in the commit's transaction. P2 They are a pure function of the events, in
 * order, so a rebuild from zero gives the same rows.
 */
import type { Recorded } from '../../port/events.ts';
import type { RowWrite } from '../../port/rows.ts';
import type { Projection } from '../projection.ts';
import { projectAssistant } from './assistants.ts';
import { carriedView, placeThread } from './carried-threads.ts';
import { projectCron } from './crons.ts';
import { projectDelivery } from './deliveries.ts';
import { projectItem } from './items.ts';
import { SCHEMA, VERSION } from './tables.ts';
import { PAIRS_INDEX } from './thread-index.ts';
import { projectThread } from './threads.ts';

export const projection: Projection = {
  version: VERSION,
  schema: SCHEMA,
  view: carriedView,
  pairs: PAIRS_INDEX,
  project,
};

function project(event: Recorded): readonly RowWrite[] {
  switch (event.type) {
    case 'AssistantCreated':
    case 'AssistantUpdated':
    case 'AssistantVersionSet':
    case 'AssistantDeleted':
      return projectAssistant(event);
    case 'WebhookOwed':
    case 'WebhookDelivered':
    case 'WebhookAttemptFailed':
    case 'WebhookRedeliveryRequested':
    case 'WebhookBodyErased':
    case 'WebhookOrphaned':
    case 'WebhookForgotten':
      return projectDelivery(event);
    case 'ItemPut':
    case 'ItemRefreshed':
    case 'ItemDeleted':
      return projectItem(event);
    case 'CronCreated':
    case 'CronUpdated':
    case 'CronFired':
    case 'CronSlotPassed':
    case 'CronDeleted':
      return projectCron(event);
    default:
      return placeThread(event, projectThread(event satisfies Recorded));
  }
}
