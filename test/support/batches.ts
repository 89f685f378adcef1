/** Batches for tests of logs, and what is read of their answers. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { DomainEvent, Recorded } from '../../src/store/port/events.ts';
import type { Append, Batch, CommitResult } from '../../src/store/port/log.ts';

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

export const textsOf = (events: readonly Recorded[]): unknown[] =>
  events.map((event) => (event.type === 'ThreadUpdated' ? event.data.metadata['text'] : event.type));

export function committed(result: CommitResult): readonly Recorded[] {
  assert.equal(result.kind, 'committed', JSON.stringify(result));
  return result.kind === 'committed' ? result.receipt.events : [];
}
