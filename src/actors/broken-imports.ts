/** Imports that broke: what they have written is erased, in commits of bounded size. */
import type { Ids } from '../kernel/ids.ts';
import type { EventLog } from '../store/port/log.ts';
import type { OpenImport } from '../store/port/views/views.ts';
import { commit } from './aggregate.ts';

export async function eraseImports(
  log: EventLog,
  ids: Ids,
  isBroken: (open: OpenImport) => boolean = () => true,
): Promise<void> {
  const { imports } = log.views.retention;
  for (const { storageKey } of (await imports()).filter(isBroken)) {
    const payloads = [{ kind: 'erase-import', storageKey }] as const;
    do await commit(log, { commandId: ids.uuid(), appends: [], payloads });
    while ((await imports()).some((open) => open.storageKey === storageKey));
  }
}
