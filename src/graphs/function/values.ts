/**
 * The state of a plain function's thread: stored text by channel, under the channel's version. P3 An update changes only
 * the channels that it names. Graph code gets copies, so later mutations do not change the state.
 */
import type { Ids } from '../../kernel/ids.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { flatten } from '../../kernel/tagged.ts';
import { createDecoder, encode, isPlainJson, toText } from '../codec.ts';
import type { ChannelBlob } from '../port.ts';
import { asMessages, mergeMessages, toMessages } from './messages.ts';

export interface Applied {
  readonly blobs: readonly ChannelBlob[];
  /** Makes the applied update in wire form. */
  readonly update: () => JsonObject;
}

export interface Values {
  /** A deep copy, with library instances such as messages as plain objects. */
  copy(): Record<string, unknown>;
  /** JSON text in wire form; `extra` members come last. */
  wireText(extra?: JsonObject): string;
  readonly versions: Record<string, string>;
  /** The names of the state channels. */
  readonly names: readonly string[];
  /** Merges an update. Throws without a change when a value cannot be stored; the message names the key. */
  apply(update: Record<string, unknown>, version: string): Applied;
}

const decode = createDecoder();

const PLACEHOLDER_NAME = '';
/** Limits the top-level keys: each is a row, and reading the state reads all rows at once. */
const MAX_KEYS = 10_000;

export function openValues(blobs: readonly ChannelBlob[], ids: Ids): Values {
  const channels = new Map(blobs.map((blob) => [blob.channel, blob]));
  const wireTexts = new Map<string, string>();
  const wireTextOf = ({ channel, data }: ChannelBlob): string => {
    const text = wireTexts.get(channel) ?? JSON.stringify(flatten(JSON.parse(data) as Json));
    wireTexts.set(channel, text);
    return text;
  };
  /** The channel's new text, and the text of what the update brings. */
  const merge = (key: string, given: unknown): { data: string; shown: () => string } => {
    const text = encode(given, key);
    // Text without tags is JSON: encoding it again would change nothing.
    const isPlain = isPlainJson(text);
    if (key !== 'messages') {
      const data = isPlain ? text : encode(decode(text), key);
      return { data, shown: () => data };
    }
    const added = toMessages(decode(text), ids);
    const present = channels.get(key)?.data ?? '[]';
    const merged = mergeMessages(asMessages(decode(present), ids), added);
    const data = isPlain && isPlainJson(present) ? toText(merged as Json, key) : encode(merged, key);
    return { data, shown: () => encode(added) };
  };

  return {
    copy: () =>
      Object.fromEntries([...channels.values()].map(({ channel, data }) => [channel, decode(data)])),
    wireText(extra = {}) {
      const members = [...channels.values()].map(
        (blob) => `${JSON.stringify(blob.channel)}:${wireTextOf(blob)}`,
      );
      for (const [key, value] of Object.entries(extra))
        members.push(`${JSON.stringify(key)}:${JSON.stringify(value)}`);
      return `{${members.join(',')}}`;
    },
    get versions() {
      return Object.fromEntries([...channels.values()].map(({ channel, version }) => [channel, version]));
    },
    get names() {
      // A single value channel would be read as the whole state (`NewCheckpoint.valueChannels`), so a second is added.
      return channels.size === 1 && !channels.has(PLACEHOLDER_NAME)
        ? [...channels.keys(), PLACEHOLDER_NAME]
        : [...channels.keys()];
    },
    apply(given, version) {
      assertFew(given, channels);
      const changed: ChannelBlob[] = [];
      const shown: [string, () => string][] = [];
      for (const [channel, value] of Object.entries(given)) {
        if (value === undefined) continue;
        const merged = merge(channel, value);
        changed.push({ channel, version, data: merged.data });
        shown.push([channel, merged.shown]);
      }
      for (const blob of changed) {
        channels.set(blob.channel, blob);
        if (isPlainJson(blob.data)) wireTexts.set(blob.channel, blob.data);
        else wireTexts.delete(blob.channel);
      }
      const update = (): JsonObject =>
        Object.fromEntries(shown.map(([channel, text]) => [channel, flatten(JSON.parse(text()) as Json)]));
      return { blobs: changed, update };
    },
  };
}

function assertFew(update: Record<string, unknown>, present: ReadonlyMap<string, unknown>): void {
  const added = Object.keys(update).filter((key) => update[key] !== undefined && !present.has(key)).length;
  const count = present.size + added;
  if (added === 0 || count <= MAX_KEYS) return;
  throw new TypeError(
    `The state would have ${count} keys at its top level, ${MAX_KEYS} at most are expected: put many things below one key`,
  );
}

/** The members of an input or update, given as an object or a list of pairs. Throws a `TypeError` for anything else. */
export function toUpdate(value: unknown, what: string): Record<string, unknown> {
  const isPairs = Array.isArray(value) && value.every((item) => Array.isArray(item) && item.length === 2);
  if (isPairs) return Object.fromEntries(value as [string, unknown][]);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError(`${what} must be an object, not ${Array.isArray(value) ? 'a list' : typeof value}`);
  return value as Record<string, unknown>;
}
