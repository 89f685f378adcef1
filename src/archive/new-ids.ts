/** Gives an imported thread and its runs ids of their own. */
import type { Inspected } from './inspect.ts';
import type { ReadRecord } from './read.ts';

/** Replaces ids in a JSON text. */
export type Rename = (text: string) => string;

export const KEEP_IDS: Rename = (text) => text;

const QUOTED_UUID = /"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"/gi;

/**
 * JSON texts speak of the thread and its runs by strings that are their ids and nothing else: members of events,
 * metadata of checkpoints, configs in frames. Longer strings, such as messages, stay as they are.
 */
export function newIds(
  { threadId, runIds }: Pick<Inspected, 'threadId' | 'runIds'>,
  draw: () => string,
): Rename {
  const given = new Map([threadId, ...runIds].map((id) => [id, draw()]));
  return (text) =>
    text.replace(QUOTED_UUID, (quoted, id: string) => {
      const other = given.get(id);
      return other === undefined ? quoted : `"${other}"`;
    });
}

export const idUnder = (rename: Rename, id: string): string => rename(`"${id}"`).slice(1, -1);

type Payload = Extract<ReadRecord, { kind: 'payload' }>;

export function renamed(record: Payload, rename: Rename): Payload {
  if (rename === KEEP_IDS) return record;
  const head = JSON.parse(rename(JSON.stringify(record.head))) as Payload['head'];
  const { content } = record;
  return { ...record, head, content: typeof content === 'string' ? rename(content) : content };
}
