/**
 * Channel values of checkpoints. P3 A conversation is stored once: a value is kept as what differs from an earlier
 * value of its channel, so a list that grows costs its new tail and not its length again.
 *
 * A row is a whole text (`base` NULL), or the first `kept` characters of its base's text and then `data`. A base is the
 * number of a row after a `#`, or a version. Which value serves as base does not matter to readers; here it is the
 * channel's latest. The rows of a value lie side by side,
 * from its `anchor` (where its chain began) on, so they are read in one sweep. When a sweep would cost more than twice
 * the value itself, because much of it was replaced or belongs to forks, the value is stored whole and begins a chain.
 */
import type { Stored } from '../../sql/coder.ts';
import type { ChannelText } from '../../port/payloads.ts';
import type { CheckpointKeys, LatestValue } from './checkpoint-keys.ts';
import type { Prepare } from '../statements.ts';
import { commonPrefix } from './text-difference.ts';
import { fill, leanInput, makeLeaningWhole } from './write-store.ts';

/** Below this a difference is not worth a second row to read. */
const SHORTEST = 256;
/** Of a base that is a row's number; versions begin otherwise. */
const ROW_MARK = '#';
/** What a row costs its reader besides its text, in characters. */
const ROW = 64;

export interface ChannelPlace {
  /** Its number: checkpoint-tables.ts. */
  readonly thread: number;
  readonly ns: string;
}

/** The row that holds what is new of a value. */
export interface WrittenValue {
  readonly id: number;
  readonly channel: string;
  readonly data: string;
}

/** Sorts before the version and those that follow it, and takes less space. */
const startOf = (version: string): string => version.split('.', 1)[0]!;

/** Writes a value unless its version is stored already; `run` is a number, too. Inside the commit's transaction. */
export function writeChannel(
  prepare: Prepare,
  keys: CheckpointKeys,
  place: ChannelPlace,
  value: ChannelText,
  run: number,
): WrittenValue | undefined {
  const { thread, ns } = place;
  const { channel, version, data } = value;
  const latest = data.length < SHORTEST ? undefined : latestOf(prepare, keys, place, channel);
  const { base, kept, anchor, cost } = leanOn(latest, version, data);
  const rest = data.slice(kept);
  const { changes, lastInsertRowid } = prepare(
    `INSERT OR IGNORE INTO blob_rows (id, thread, ns, channel, version, run, base, kept, anchor, data, crc)
     VALUES (@id, @thread, @ns, @channel, @version, @run, @base, @kept, @anchor, @data, @crc)`,
  ).run({
    id: leanInput(prepare, place, { channel, version, data: rest }) ?? null,
    thread,
    ns,
    channel,
    version,
    run,
    base,
    kept,
    anchor,
    ...prepare.coder.columns(rest),
  });
  if (changes === 0) return undefined;
  const id = Number(lastInsertRowid);
  if (data.length >= SHORTEST && (latest === undefined || version > latest.version))
    keys.setLatest(thread, ns, channel, { id, version, anchor, text: data, cost });
  return { id, channel, data: rest };
}

interface Lean {
  readonly base: string | null;
  readonly kept: number;
  readonly anchor: string | null;
  readonly cost: number;
}

/** How a value is stored: by itself when what it has in common with the latest is not worth it. */
function leanOn(latest: LatestValue | undefined, version: string, data: string): Lean {
  const whole = { base: null, kept: 0, anchor: null, cost: ROW + data.length };
  if (latest === undefined) return whole;
  const kept = commonPrefix(latest.text, data);
  const cost = latest.cost + ROW + data.length - kept;
  if (kept * 2 < data.length || cost > data.length * 2) return whole;
  // A fork counts on from an earlier version and may lie before its base: then its sweep begins with itself.
  const anchor = version > latest.version ? (latest.anchor ?? startOf(latest.version)) : null;
  return { base: `${ROW_MARK}${latest.id}`, kept, anchor, cost };
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
type Piece = readonly [id: number, version: string, base: string | null, kept: number, data: string];
/** `below`: what the rest of the data is cut from; NULL when all of it is in the row. */
type PieceRow = readonly [
  id: number,
  version: string,
  base: string | null,
  kept: number,
  data: Stored,
  head: number,
  start: number,
  below: Stored | null,
];

/** Reads the rows from the value's anchor on. `cost`: of all that was read, in characters. */
function sweep(
  prepare: Prepare,
  place: ChannelPlace,
  channel: string,
  version: string,
): { text: string; cost: number } | undefined {
  const { thread, ns } = place;
  const rows = prepare(
    `SELECT id, version, base, kept, data, head, start,
       iif(rest IS NULL, NULL, (SELECT data FROM blob_rows AS below WHERE below.id = blob.rest))
     FROM blob_rows AS blob
     WHERE thread = @thread AND ns = @ns AND channel = @channel AND version <= @version
       AND version >= (SELECT coalesce(anchor, version) FROM blob_rows
         WHERE thread = @thread AND ns = @ns AND channel = @channel AND version = @version)`,
  )
    .raw()
    .all({ thread, ns, channel, version }) as PieceRow[];
  const pieces = rows.map((row): Piece => {
    const [id, own, base, kept, data, head, start, below] = row;
    if (below === null) return [id, own, base, kept, prepare.coder.open(data)];
    return [id, own, base, 0, fill(prepare, { head, start, kept, data, below })];
  });
  const byId = new Map(pieces.map((piece) => [piece[0], piece]));
  let piece = pieces.find(([, own]) => own === version);
  if (piece === undefined) return undefined;
  let cost = pieces.reduce((sum, [, , , , data]) => sum + ROW + data.length, 0);
  const tails: Piece[] = [];
  let text = '';
  while (piece !== undefined) {
    tails.push(piece);
    const base: string | null = piece[2];
    if (base === null) break;
    const below: Piece | undefined = base.startsWith(ROW_MARK)
      ? byId.get(Number(base.slice(ROW_MARK.length)))
      : pieces.find(([, own]) => own === base);
    if (below === undefined) {
      // Of a fork, or of a chain that an earlier version of this program wrote.
      const elsewhere = sweep(prepare, place, channel, versionOf(prepare, base));
      if (elsewhere === undefined)
        throw new Error(
          `channel ${channel} version ${version} of thread ${thread} leans on a value that is gone`,
        );
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
  for (const [, , , kept, data] of pieces) {
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
export function makeWhole(
  prepare: Prepare,
  place: ChannelPlace,
  { id, channel, version }: { readonly id: number; readonly channel: string; readonly version: string },
): void {
  const data = readChannel(prepare, place, channel, version)!;
  makeLeaningWhole(prepare, id);
  prepare(
    `UPDATE blob_rows SET base = NULL, kept = 0, anchor = NULL, data = @data, crc = @crc, rest = NULL, head = NULL, start = NULL
     WHERE id = @id`,
  ).run({ id, ...prepare.coder.columns(data) });
}

export function dropChannel(prepare: Prepare, id: number): void {
  makeLeaningWhole(prepare, id);
  prepare('DELETE FROM blob_rows WHERE id = ?').run(id);
}

function latestOf(
  prepare: Prepare,
  keys: CheckpointKeys,
  place: ChannelPlace,
  channel: string,
): LatestValue | undefined {
  const { thread, ns } = place;
  const known = keys.latest(thread, ns, channel);
  if (known !== undefined) return known;
  const row = prepare(
    `SELECT id, version, anchor FROM blob_rows
     WHERE thread = ? AND ns = ? AND channel = ? ORDER BY version DESC LIMIT 1`,
  ).get(thread, ns, channel) as Omit<LatestValue, 'text' | 'cost'> | undefined;
  const swept = row && sweep(prepare, place, channel, row.version);
  return row && swept && { ...row, ...swept };
}

const versionOf = (prepare: Prepare, base: string): string =>
  base.startsWith(ROW_MARK)
    ? String(
        prepare('SELECT version FROM blob_rows WHERE id = ?')
          .pluck()
          .get(Number(base.slice(ROW_MARK.length))),
      )
    : base;
