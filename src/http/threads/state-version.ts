/** The state of a thread at a version of its stream, read from the log alone. */
import { z } from 'zod';
import type { Actor } from '../../auth/authenticate.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import type { Json } from '../../kernel/json.ts';
import type { Sendable } from '../../kernel/json-text.ts';
import { pointerTo } from '../../past/travel/changes.ts';
import { openVersions, type WrittenChange } from '../../past/travel/version.ts';
import { threadStream } from '../../thread/events.ts';
import type { ServerContext } from '../context.ts';
import { json } from '../fields.ts';
import { noThreadVersion } from '../replies.ts';
import { findReadable } from './readable-thread.ts';
import { checkpoint, interrupt, toCheckpoint } from './state-shapes.ts';

const MAX_CHANGES = 500;

const change = z
  .object({
    op: z.enum(['add', 'remove', 'replace']),
    path: z.string().meta({ description: 'JSON Pointer into the values.' }),
    value: json.optional(),
    before: json.optional(),
    version: z.int().meta({ description: 'The version that wrote the value, or removed it.' }),
  })
  .meta({ id: 'StateChange' });

export const versionState = z
  .object({
    version: z.int(),
    created_at: z.string().meta({ description: 'Time of the event.' }),
    values: json.meta({ description: 'Empty before the first state, null when they were erased.' }),
    erased: z.boolean().meta({ description: 'The checkpoint of the moment was deleted or pruned.' }),
    saved_at: z.int().nullable().meta({ description: 'The version that saved this state.' }),
    next: z.array(z.string()),
    interrupts: z.array(interrupt),
    checkpoint: checkpoint.nullable(),
    parent_checkpoint: checkpoint.nullable(),
    from: z.int().optional(),
    changes: z.array(change).optional().meta({ description: 'With `from`; the first 500.' }),
    more_changes: z.boolean().optional(),
  })
  .meta({ id: 'VersionState', description: 'The state of a thread after one of its events.' });

interface Moment {
  readonly version: number;
  readonly from: number | undefined;
}

/** Throws a 404 for a version that the thread does not have. */
export async function readVersion(
  context: ServerContext,
  actor: Actor,
  threadId: string,
  moment: Moment,
): Promise<Record<string, Sendable>> {
  const { ifStillReadable } = await findReadable(context, actor, threadId);
  return ifStillReadable(stateAt(context, threadId, moment));
}

async function stateAt(
  { log }: ServerContext,
  threadId: string,
  { version, from }: Moment,
): Promise<Record<string, Sendable>> {
  const past = openVersions(
    log,
    threadId,
    async (runId) => (await log.views.runs.get(runId, { threadId }))?.graphId,
  );
  const state = await past.stateAt(version);
  if (state === undefined) throw noThreadVersion(version, await log.streamVersion(threadStream(threadId)));
  const { head, parent, savedAt = null, values, isErased: erased, next, interrupts, at } = state;
  const refOf = (id: string | null) => toCheckpoint(threadId, id === null ? null : { ns: '', id });
  const found = from === undefined ? [] : await past.changes(from, version, MAX_CHANGES + 1);
  return {
    version,
    created_at: toTimestamp(at),
    values: values ?? (erased ? null : {}),
    erased,
    saved_at: savedAt,
    next: [...next],
    interrupts: Object.values(interrupts).flat(),
    checkpoint: refOf(head),
    parent_checkpoint: refOf(parent),
    ...(from !== undefined && {
      from,
      changes: found.slice(0, MAX_CHANGES).map(toChange),
      more_changes: found.length > MAX_CHANGES,
    }),
  };
}

const toChange = ({ place, before, after, version }: WrittenChange): Record<string, Json> => ({
  op: before === undefined ? 'add' : after === undefined ? 'remove' : 'replace',
  path: pointerTo(place),
  ...(after !== undefined && { value: after }),
  ...(before !== undefined && { before }),
  version,
});
