/**
 * What a checkpoint is besides its values, as one text in little space. Most of it is the same in every checkpoint of
 * its thread, or stands in the row already: a packed text is what differs (token-difference.ts) from the text of an
 * earlier row and the row's ids, and that of the earlier row what differs from a text that all know. A packed text
 * that is no difference is the text itself.
 */
import type { Coder, Stored } from '../../sql/coder.ts';
import { fromDifference, toBase, toDifference, type Base } from './token-difference.ts';

export interface CheckpointParts {
  readonly metadata: string;
  readonly versions: string;
  readonly valueChannels: string;
  readonly body: string;
}

/** Ids of the row, which a text may speak of. */
export interface CheckpointIds {
  readonly thread_id: string;
  readonly checkpoint_id: string;
  readonly parent_id: string | null;
  readonly run_id: string;
}

export interface PackedCheckpoint extends CheckpointIds {
  readonly packed: Stored;
  /** What is packed in the row that it differs from; NULL without one, empty when that is gone. */
  readonly base: Stored | null;
}

/** Before a difference: a text itself begins with a brace. */
export const MARK = '=';

/** Of a difference: some 50 ms. */
const MAX_PIECES = 50_000;

/** Danger: texts that were packed with it can be read with nothing else. A better one needs a mark of its own. */
const COMMON = toBase(
  '{"run_id":"","run_attempt":1,"graph_id":"agent","assistant_id":"","thread_id":"","source":"input","step":1,' +
    '"parents":{}}\n{"messages":"0000000001."}\n["messages"]\n{"kind":"function","runId":"","turn":{"input":"",' +
    '"done":0,"answers":[],"patches":[]}}{"source":"loop","step":1,"parents":{},"run_id":"","run_attempt":1,' +
    '"graph_id":"agent","assistant_id":"","thread_id":""}\n{"__start__":"0000000001.","messages":"0000000001.",' +
    '"branch:to:":"0000000001.","__pregel_tasks":"0000000001."}\n["messages"]\n{"v":4,"id":"",' +
    '"ts":"2026-01-01T00:00:00.000Z","channel_versions":{"__start__":"0000000001.","messages":"0000000001.",' +
    '"branch:to:":"0000000001."},"versions_seen":{"__input__":{},"__start__":{"__start__":"0000000001."},' +
    '"":{"branch:to:":"0000000001."}}}',
);

const namesOf = (row: CheckpointIds): string[] => [
  row.thread_id,
  row.run_id,
  row.parent_id ?? '',
  row.checkpoint_id,
];

/** The last part may be any text; the others are JSON on one line. */
export const joinParts = ({ metadata, versions, valueChannels, body }: CheckpointParts): string =>
  `${metadata}\n${versions}\n${valueChannels}\n${body}`;

/** It would take the event loop longer than its space is worth: nothing differs from it, nor it from others. */
export function isLong(text: string): boolean {
  if (text.length < MAX_PIECES) return false;
  let at = -1;
  for (let pieces = 0; pieces < MAX_PIECES; pieces++) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** By itself: it speaks of no ids of the row, so others may differ from it. */
export const packWhole = (text: string): string =>
  isLong(text) ? text : MARK + toDifference(text, COMMON, []);

export const packAgainst = (base: Base, ids: CheckpointIds, text: string): string =>
  MARK + toDifference(text, base, namesOf(ids));

/** Of a row without a base. */
export const readWhole = (packed: string): string =>
  packed.startsWith(MARK) ? fromDifference(packed.slice(MARK.length), COMMON, []) : packed;

/** Reads texts one after the other: neighbours mostly differ from the same one, which is put together once. */
export function openTexts(coder: Coder): (row: PackedCheckpoint) => string {
  let last: { readonly base: string; readonly pieces: readonly string[] } | undefined;
  return (row) => {
    const [packed, base] = [coder.open(row.packed), coder.open(row.base)];
    if (!packed.startsWith(MARK)) return packed;
    if (base === null) return readWhole(packed);
    if (base === '') throw new Error(`checkpoint ${row.checkpoint_id} leans on one that is gone`);
    if (last?.base !== base) last = { base, pieces: readWhole(base).split('"') };
    return fromDifference(packed.slice(MARK.length), last, namesOf(row));
  };
}

function toParts(text: string): CheckpointParts {
  const [metadata = '', versions = '', valueChannels = ''] = text.split('\n', 3);
  const body = text.slice(metadata.length + versions.length + valueChannels.length + 3);
  return { metadata, versions, valueChannels, body };
}

/** For many rows. */
export function openCheckpoints(coder: Coder): (row: PackedCheckpoint) => CheckpointParts {
  const textOf = openTexts(coder);
  return (row) => toParts(textOf(row));
}

export const unpackCheckpoint = (coder: Coder, row: PackedCheckpoint): CheckpointParts =>
  openCheckpoints(coder)(row);

/** For queries, which have the columns of a row and no row; of one connection. */
export function openMetadata(coder: Coder) {
  const read = openCheckpoints(coder);
  return (
    thread_id: string,
    checkpoint_id: string,
    parent_id: string | null,
    run_id: string,
    packed: Stored,
    base: Stored | null,
  ): string => read({ thread_id, checkpoint_id, parent_id, run_id, packed, base }).metadata;
}
