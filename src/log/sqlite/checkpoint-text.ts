/**
 * What a checkpoint is besides its values, as one text in little space. Most of it is the same in every checkpoint of
 * every thread, or stands in the row already: a packed text is a difference (raw DEFLATE) against both. It leans on no
 * other row, so rows may go in any order.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';

export interface CheckpointParts {
  readonly metadata: string;
  readonly versions: string;
  readonly valueChannels: string;
  readonly body: string;
}

/** Of the row; `packed` as a string is the text itself. */
export interface PackedCheckpoint {
  readonly thread_id: string;
  readonly checkpoint_id: string;
  readonly parent_id: string | null;
  readonly run_id: string;
  readonly packed: string | Uint8Array;
}

/** Danger: texts that were packed with it can be read with nothing else. A better one needs a mark in the rows. */
const COMMON =
  '{"kind":"function","runId":"","turn":{"input":"","done":0,"answers":[],"patches":[]}}' +
  '{"source":"update","step":-1,"parents":{"":""},"source":"fork","writes":null' +
  '{"run_id":"","run_attempt":1,"graph_id":"agent","assistant_id":"","thread_id":"","source":"input","step":1,"parents":{}}' +
  '{"source":"loop","step":1,"parents":{},"run_id":"","run_attempt":1,"graph_id":"agent","assistant_id":"","thread_id":""}\n' +
  '{"__start__":"00000000","messages":"0000000000.","branch:to:":"000000","__pregel_tasks":"0000000001."}\n' +
  '["messages"]\n' +
  '{"v":4,"id":"","ts":"2026-01-01T00:00:00.000Z","channel_versions":{"__start__":"00000000","messages":"0000000000.",' +
  '"branch:to:":"000000"},"versions_seen":{"__input__":{},"__start__":{"__start__":"0000000000."},"":{"branch:to:":"00000000.';

const dictionaryOf = (row: Omit<PackedCheckpoint, 'packed'>): Buffer =>
  Buffer.from(`${COMMON}${row.thread_id} ${row.run_id} ${row.parent_id ?? ''} ${row.checkpoint_id}`);

const OPTIONS = { level: 6, windowBits: 13 };

/** The last part may be any text; the others are JSON on one line. */
export const joinParts = ({ metadata, versions, valueChannels, body }: CheckpointParts): string =>
  `${metadata}\n${versions}\n${valueChannels}\n${body}`;

export function packCheckpoint(row: Omit<PackedCheckpoint, 'packed'>, text: string): string | Uint8Array {
  return deflateRawSync(text, { ...OPTIONS, dictionary: dictionaryOf(row) });
}

export function unpackCheckpoint(row: PackedCheckpoint): CheckpointParts {
  const text =
    typeof row.packed === 'string'
      ? row.packed
      : inflateRawSync(row.packed, { ...OPTIONS, dictionary: dictionaryOf(row) }).toString();
  const [metadata = '', versions = '', valueChannels = ''] = text.split('\n', 3);
  const body = text.slice(metadata.length + versions.length + valueChannels.length + 3);
  return { metadata, versions, valueChannels, body };
}

/** For queries, which have the columns of a row and no row. */
export const checkpointMetadata = (
  thread_id: string,
  checkpoint_id: string,
  parent_id: string | null,
  run_id: string,
  packed: string | Uint8Array,
): string => unpackCheckpoint({ thread_id, checkpoint_id, parent_id, run_id, packed }).metadata;
