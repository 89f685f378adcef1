/** Opens the log and the actors that write to it. */
import { createAssistants, type Assistants } from '../actors/assistants.ts';
import { createCrons, type Crons } from '../actors/crons.ts';
import { createDeliveries, type Deliveries } from '../actors/deliveries.ts';
import { createEmbedder } from '../actors/embedder.ts';
import { createItems, type Items } from '../actors/items.ts';
import { createStore, type Store } from '../actors/store.ts';
import { createThreadMaintenance, type ThreadMaintenance } from '../actors/thread-maintenance.ts';
import { createThreads, type Threads } from '../actors/threads.ts';
import { logAddressOf } from '../config/config.ts';
import { deltaBasesOf } from '../graphs/checkpoint-needs.ts';
import { limitDelivery, renderDelivery } from '../http/webhooks/delivery-body.ts';
import type { EventLog } from '../store/port/log.ts';
import { storeAt } from '../open-store.ts';
import type { Assembly } from './assembly.ts';

export interface WritePaths {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly maintenance: ThreadMaintenance;
  readonly assistants: Assistants;
  readonly crons: Crons;
  readonly deliveries: Deliveries;
  readonly items: Items;
  readonly store: Store;
}

export async function openLog({ config, options, clock, graphs, stops }: Assembly): Promise<EventLog> {
  const log = await storeAt(logAddressOf(config), config.encryptionKeys).openLog({
    clock,
    onFault: (error) => options.onFault(error, 'announcing a commit'),
    listenUrl: config.databaseListenUrl,
    ...(options.onWarning && { onWarning: options.onWarning }),
  });
  stops.push(() => log.close());
  // Graphs close before the log, because they may still write.
  stops.push(() => graphs.close());
  log.onPoisoned(options.onPoisoned);
  return log;
}

export function openWritePaths(
  { config, options, clock, ids, embedTexts }: Assembly,
  log: EventLog,
): WritePaths {
  const { onFault } = options;
  const { enabled, payloadFields } = config.webhooks;
  const { refreshOnRead, defaultTtl, index } = config.store;
  const { catchUp: mode, catchUpLimit: limit } = config.crons;
  const render = limitDelivery(renderDelivery, payloadFields);
  const threads = createThreads({ log, clock, ids, webhooks: { enabled, render } });
  const items = createItems({ log, clock, ids });
  const embedder = index && embedTexts && createEmbedder({ ...index, embedTexts, clock });
  return {
    log,
    threads,
    maintenance: createThreadMaintenance({ log, threads, deltaBasesOf }),
    assistants: createAssistants({ log, ids }),
    crons: createCrons({ log, clock, ids, catchUp: { mode, limit } }),
    deliveries: createDeliveries({ log, ids }),
    items,
    store: createStore({ log, items, clock, ttl: { refreshOnRead, defaultTtl }, embedder, onFault }),
  };
}
