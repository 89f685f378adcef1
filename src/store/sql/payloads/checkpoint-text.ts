/** What a checkpoint is besides its values, as one text. Most of it repeats an earlier one, or ids of its row. */
import { toId, type StoredId } from './stored-ids.ts';

export interface CheckpointParts {
  readonly metadata: string;
  readonly versions: string;
  readonly valueChannels: string;
  readonly body: string;
}

/** Danger: differences from it can be read with nothing else. */
export const COMMON =
  '{"run_id":"","run_attempt":1,"graph_id":"agent","assistant_id":"","thread_id":"","source":"input","step":1,' +
  '"parents":{}}\n{"messages":"0000000001."}\n["messages"]\n{"kind":"function","runId":"","turn":{"input":"",' +
  '"done":0,"answers":[],"patches":[]}}{"source":"loop","step":1,"parents":{},"run_id":"","run_attempt":1,' +
  '"graph_id":"agent","assistant_id":"","thread_id":""}\n{"__start__":"0000000001.","messages":"0000000001.",' +
  '"branch:to:":"0000000001.","__pregel_tasks":"0000000001."}\n["messages"]\n{"v":4,"id":"",' +
  '"ts":"2026-01-01T00:00:00.000Z","channel_versions":{"__start__":"0000000001.","messages":"0000000001.",' +
  '"branch:to:":"0000000001."},"versions_seen":{"__input__":{},"__start__":{"__start__":"0000000001."},' +
  '"":{"branch:to:":"0000000001."}}}';

export interface CheckpointIds {
  readonly thread: StoredId;
  readonly run: StoredId;
  readonly parent: StoredId | null;
  readonly name: StoredId;
}

/** The ids of a checkpoint's row as a text that its own may copy from. */
export const namesOf = ({ thread, run, parent, name }: CheckpointIds): string =>
  `"${[thread, run, parent ?? '', name].map(toId).join('"')}"`;

/** The last part may be any text; the others are JSON on one line. */
export const joinParts = ({ metadata, versions, valueChannels, body }: CheckpointParts): string =>
  `${metadata}\n${versions}\n${valueChannels}\n${body}`;

export function toParts(text: string): CheckpointParts {
  const [metadata = '', versions = '', valueChannels = ''] = text.split('\n', 3);
  const body = text.slice(metadata.length + versions.length + valueChannels.length + 3);
  return { metadata, versions, valueChannels, body };
}
