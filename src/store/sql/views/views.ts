import type { PayloadReader } from '../../port/payloads.ts';
import type { Views } from '../../port/views/views.ts';
import type { Ask, Scan } from '../ask.ts';
import { assistantViews, SEARCH as ASSISTANTS_SEARCH } from './assistant-queries.ts';
import { VERSIONS } from './assistant-versions.ts';
import { COUNTS } from './counts.ts';
import { COUNT as CRONS_COUNT, cronViews, SEARCH as CRONS_SEARCH } from './cron-queries.ts';
import { deliveryViews, SEARCH as DELIVERIES_SEARCH } from './delivery-queries.ts';
import { dueViews } from './due-queries.ts';
import { ASSISTANTS, inventoryViews } from './inventory.ts';
import { itemViews, VECTORS, WINDOW } from './item-queries.ts';
import { PATHS } from './namespace-queries.ts';
import { retentionViews, RUNS_WITH_FRAMES } from './retention-queries.ts';
import { EVERYWHERE } from './run-everywhere.ts';
import { LIST, OF_ASSISTANT, runViews, TO_CANCEL } from './run-queries.ts';
import { JUDGED, PAGE, TOTAL } from './thread-plan.ts';
import { EXPIRED, threadViews } from './thread-queries.ts';

export const createViews = (ask: Ask, containing: PayloadReader['containing']): Views => ({
  threads: threadViews(ask, containing),
  runs: runViews(ask),
  assistants: assistantViews(ask),
  crons: cronViews(ask),
  deliveries: deliveryViews(ask),
  items: itemViews(ask),
  due: dueViews(ask),
  retention: retentionViews(ask),
  inventory: inventoryViews(ask),
});

/** All scans, which are answered by their names where the caller is in another thread. */
export const SCANS: readonly Scan<never, unknown>[] = [
  ...[ASSISTANTS, ASSISTANTS_SEARCH, VERSIONS, COUNTS, CRONS_COUNT, CRONS_SEARCH, DELIVERIES_SEARCH],
  ...[
    EVERYWHERE,
    EXPIRED,
    JUDGED,
    PAGE,
    TOTAL,
    LIST,
    OF_ASSISTANT,
    TO_CANCEL,
    PATHS,
    RUNS_WITH_FRAMES,
    VECTORS,
    WINDOW,
  ],
];
