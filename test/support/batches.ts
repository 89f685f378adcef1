/** Batches for tests of logs, and what is read of their answers. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { DomainEvent, Recorded } from '../../src/store/port/events.ts';
import type { Append, Batch, CommitResult, EventLog, Lease } from '../../src/store/port/log.ts';
import { fact } from './given.ts';

/** A fact that no rule looks at: it says something. */
export const said = (text: string, more: JsonObject = {}): DomainEvent => ({
  type: 'ThreadUpdated',
  data: { threadId: 't', metadata: { text, ...more } },
});

/** `from`: the version that the facts come after. */
export const append = (stream: string, from: number, ...texts: string[]): Append => ({
  stream,
  expected: from,
  events: texts.map((text) => said(text)),
});

export const batch = (appends: Append[], more: Partial<Batch> = {}): Batch => ({
  commandId: randomUUID(),
  appends,
  ...more,
});

/** Gives a run a lease: its n-th attempt starts, in a stream of its own. */
export async function grant(log: EventLog, { runId, attempt, leaseId }: Lease): Promise<void> {
  const stream = `thread-${runId}`;
  const expected = (await log.readStream(stream, 1, 1_000)).length;
  const created = expected === 0 ? [fact.created({}, false, runId), fact.runCreated(runId)] : [];
  const events = [...created, fact.started(runId, attempt, leaseId)].map(
    (event) => ({ ...event, data: { ...event.data, threadId: runId } }) as DomainEvent,
  );
  committed(await log.commit(batch([{ stream, expected, events }])));
}

/** Ends what `grant` gave. */
export async function endGrant(log: EventLog, { runId, attempt }: Omit<Lease, 'leaseId'>): Promise<void> {
  const stream = `thread-${runId}`;
  const expected = (await log.readStream(stream, 1, 1_000)).length;
  committed(await log.commit(batch([{ stream, expected, events: [fact.requeued(runId, attempt)] }])));
}

export const textsOf = (events: readonly Recorded[]): unknown[] =>
  events.map((event) => (event.type === 'ThreadUpdated' ? event.data.metadata['text'] : event.type));

export function committed(result: CommitResult): readonly Recorded[] {
  assert.equal(result.kind, 'committed', JSON.stringify(result));
  return result.kind === 'committed' ? result.receipt.events : [];
}
