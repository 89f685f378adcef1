/**
 * Channel values of checkpoints. P3 A conversation is stored once: a value is kept as what differs from an earlier
 * value of its channel, so a list that grows costs its new tail and not its length again.
 *
 * A row is a whole text (`base` NULL), or the first `kept` characters of its base's text and then `data`. Which value
 * serves as base does not matter to readers; here it is the channel's latest. The rows of a value lie side by side,
 * from its `anchor` (where its chain began) on, so they are read in one sweep. When a sweep would cost more than twice
 * the value itself, because much of it was replaced or belongs to forks, the value is stored whole and begins a chain.
 */
import type { ChannelText } from '../payloads.ts';
import type { Prepare } from './statements.ts';
import { commonPrefix } from './text-difference.ts';

/** Below this a difference is not worth a second row to read. */
const SHORTEST = 256;
/** What a row costs its reader besides its text, in characters. */
const ROW = 64;

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
  const swept = latest && sweep(prepare, place, channel, latest.version);
  if (latest !== undefined && swept !== undefined) {
    const kept = commonPrefix(swept.text, data);
    const cost = swept.cost + ROW + data.length - kept;
    if (kept * 2 >= data.length && cost <= data.length * 2) {
      // A fork counts on from an earlier version and may lie before its base: then its sweep begins with itself.
      const anchor = version > latest.version ? latest.anchor : version;
      insert.run({
        ...row,
        base: latest.version,
        kept,
        depth: latest.depth + 1,
        anchor,
        data: data.slice(kept),
      });
      return;
    }
  }
  insert.run({ ...row, base: null, kept: 0, depth: 0, anchor: version, data });
}

/** The whole text of a value, undefined when it is not stored. */
export function readChannel(
  prepare: Prepare,
  place: ChannelPlace,
  channel: string,
  version: string,
): string | undefined {
  return sweep(prepare, place, channel, version)?.text;
}

/** A row as a list: long conversations have thousands. */
type Piece = readonly [version: string, base: string | null, kept: number, data: string];

/** Reads the rows from the value's anchor on. `cost`: of all that was read, in characters. */
function sweep(
  prepare: Prepare,
  place: ChannelPlace,
  channel: string,
  version: string,
): { text: string; cost: number } | undefined {
  const { threadId, ns } = place;
  const pieces = prepare(
    `SELECT version, base, kept, data FROM channel_blobs
     WHERE thread_id = @threadId AND ns = @ns AND channel = @channel AND version <= @version
       AND version >= (SELECT anchor FROM channel_blobs
         WHERE thread_id = @threadId AND ns = @ns AND channel = @channel AND version = @version)`,
  )
    .raw()
    .all({ threadId, ns, channel, version }) as Piece[];
  const byVersion = new Map(pieces.map((piece) => [piece[0], piece]));
  let piece = byVersion.get(version);
  if (piece === undefined) return undefined;
  let cost = pieces.reduce((sum, [, , , data]) => sum + ROW + data.length, 0);
  const tails: Piece[] = [];
  let text = '';
  while (piece !== undefined) {
    tails.push(piece);
    const base: string | null = piece[1];
    if (base === null) break;
    const below = byVersion.get(base);
    if (below === undefined) {
      // Of a fork, or of a chain that an earlier version of this program wrote.
      const elsewhere = sweep(prepare, place, channel, base);
      if (elsewhere === undefined)
        throw new Error(`channel ${channel} version ${version} of ${threadId} leans on a value that is gone`);
      text = elsewhere.text;
      cost += elsewhere.cost;
    }
    piece = below;
  }
  return { text: assemble(text, tails.reverse()), cost };
}

/** Cutting a text that was just put together copies all of it, so pieces are cut before they are. */
function assemble(text: string, pieces: readonly Piece[]): string {
  const parts = [text];
  let length = text.length;
  for (const [, , kept, data] of pieces) {
    while (length > kept) {
      const last = parts.pop()!;
      length -= last.length;
      if (length >= kept) continue;
      parts.push(last.slice(0, kept - length));
      length = kept;
    }
    parts.push(data);
    length += data.length;
  }
  return parts.join('');
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
