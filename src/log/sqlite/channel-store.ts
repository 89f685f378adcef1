/**
 * Channel values of checkpoints. P3 A conversation is stored once: a value is kept as what differs from an earlier
 * value of its channel, so a list that grows costs its new tail and not its length again.
 *
 * A row is a whole text (`base` NULL), or the first `kept` characters of its base's text and then `data`. Which value
 * serves as base does not matter to readers; here it is the channel's latest. Every `SPAN` rows one row leans on the
 * row that did so before (its `anchor`), so a value is put together from about n / SPAN + SPAN rows at the price of
 * storing each tail at most twice.
 */
import type { ChannelText } from '../payloads.ts';
import type { Prepare } from './statements.ts';

const SPAN = 32;
/** Below this a difference is not worth a second row to read. */
const SHORTEST = 256;

export interface ChannelPlace {
  readonly threadId: string;
  readonly ns: string;
}

interface Link {
  readonly version: string;
  readonly depth: number;
  readonly anchor: string;
}

/** Writes a value unless its version is stored already. Inside the commit's transaction. */
export function writeChannel(
  prepare: Prepare,
  place: ChannelPlace,
  { channel, version, data }: ChannelText,
  runId: string,
): void {
  const insert = prepare(
    `INSERT OR IGNORE INTO channel_blobs
     VALUES (@threadId, @ns, @channel, @version, @runId, @base, @kept, @depth, @anchor, @data)`,
  );
  const row = { ...place, channel, version, runId };
  const latest = data.length < SHORTEST ? undefined : latestOf(prepare, place, channel);
  if (latest !== undefined) {
    const isDeep = latest.depth + 1 >= SPAN;
    const base = isDeep ? latest.anchor : latest.version;
    const kept = commonPrefix(readChannel(prepare, place, channel, base) ?? '', data);
    if (kept * 2 >= data.length) {
      const link = isDeep
        ? { depth: 0, anchor: version }
        : { depth: latest.depth + 1, anchor: latest.anchor };
      insert.run({ ...row, ...link, base, kept, data: data.slice(kept) });
      return;
    }
  }
  insert.run({ ...row, base: null, kept: 0, depth: 0, anchor: version, data });
}

/** The whole text of a value, undefined when it is not stored. */
export function readChannel(
  prepare: Prepare,
  { threadId, ns }: ChannelPlace,
  channel: string,
  version: string,
): string | undefined {
  const rows = prepare(
    `WITH RECURSIVE chain (base, kept, data, hops) AS (
       SELECT base, kept, data, 0 FROM channel_blobs
       WHERE thread_id = @threadId AND ns = @ns AND channel = @channel AND version = @version
       UNION ALL
       SELECT below.base, below.kept, below.data, hops + 1 FROM chain JOIN channel_blobs AS below
       ON below.thread_id = @threadId AND below.ns = @ns AND below.channel = @channel
         AND below.version = chain.base)
     SELECT base, kept, data FROM chain ORDER BY hops DESC`,
  ).all({ threadId, ns, channel, version }) as { base: string | null; kept: number; data: string }[];
  if (rows.length === 0) return undefined;
  if (rows[0]!.base !== null)
    throw new Error(`channel ${channel} version ${version} of ${threadId} leans on a value that is gone`);
  return rows.reduce((text, { kept, data }) => text.slice(0, kept) + data, '');
}

/** Stores a value by itself; what leans on it is as before. Comes before its base goes. */
export function makeWhole(prepare: Prepare, place: ChannelPlace, channel: string, version: string): void {
  const data = readChannel(prepare, place, channel, version);
  prepare(
    `UPDATE channel_blobs SET base = NULL, kept = 0, depth = 0, anchor = version, data = @data
     WHERE thread_id = @threadId AND ns = @ns AND channel = @channel AND version = @version`,
  ).run({ ...place, channel, version, data });
}

export function dropChannel(
  prepare: Prepare,
  { threadId, ns }: ChannelPlace,
  channel: string,
  version: string,
): void {
  prepare('DELETE FROM channel_blobs WHERE thread_id = ? AND ns = ? AND channel = ? AND version = ?').run(
    threadId,
    ns,
    channel,
    version,
  );
}

function latestOf(prepare: Prepare, { threadId, ns }: ChannelPlace, channel: string): Link | undefined {
  return prepare(
    `SELECT version, depth, anchor FROM channel_blobs
     WHERE thread_id = ? AND ns = ? AND channel = ? ORDER BY version DESC LIMIT 1`,
  ).get(threadId, ns, channel) as Link | undefined;
}

/** In UTF-16 units, never between the halves of a pair: each part has to be text that UTF-8 can carry. */
function commonPrefix(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let [low, high] = [0, shorter];
  // Comparing slices is far cheaper than walking the characters.
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (a.slice(low, middle) === b.slice(low, middle)) low = middle;
    else high = middle - 1;
  }
  const last = low === 0 ? 0 : b.charCodeAt(low - 1);
  return last >= 0xd800 && last <= 0xdbff ? low - 1 : low;
}
