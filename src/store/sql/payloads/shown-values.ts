/** A thread's values as clients see them, from the channels that they are kept in. */
import type { Json } from '../../../kernel/json.ts';
import { JsonText } from '../../../kernel/json-text.ts';
import { flatten, mayHaveTags } from '../../../kernel/tagged.ts';
import type { ChannelText } from '../../port/payloads.ts';

/** Graphs whose state is one value and not an object of channels keep it under one of these names. */
const WHOLE_STATE: ReadonlySet<string> = new Set(['__end__', '__root__']);

/**
 * In characters: longer texts go to clients as they are, when that is how clients see them. Shorter ones are parsed all
 * the same, for that tells of damage.
 */
const LARGE = 65_536;

/** `names`: of all channels that make up the state. `parse` throws for a text that is damaged. */
export function shownValues(
  names: readonly string[],
  channels: readonly ChannelText[],
  parse: (text: string) => unknown,
): JsonText {
  const shown = ({ data }: ChannelText): string =>
    data.length > LARGE && !mayHaveTags(data) ? data : JSON.stringify(flatten(parse(data) as Json));
  const [whole] = channels;
  if (whole !== undefined && names.length === 1 && WHOLE_STATE.has(whole.channel))
    return new JsonText(shown(whole));
  const members = channels.map((each) => `${JSON.stringify(each.channel)}:${shown(each)}`);
  return new JsonText(`{${members.join(',')}}`);
}
