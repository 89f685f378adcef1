/**
 * Serializes lists of large records one by one: a thousand records of 1 MB would block the event loop for ten seconds
 * and exceed the maximum string length.
 */
import { JsonText, MAX_RESPONSE_CHARS, writeJson, type Sendable } from '../kernel/json-text.ts';
import { startTurn } from '../kernel/turn.ts';
import { jsonReply, pageTooLarge } from './replies.ts';

export const listReply = async <T>(
  records: readonly T[],
  render: (record: T) => Promise<Sendable | undefined>,
  headers: Readonly<Record<string, string>> = {},
  largest = MAX_RESPONSE_CHARS,
): Promise<Response> => jsonReply(await renderList(records, render, largest), 200, headers);

/** Skips records that render as undefined (deleted meanwhile). Throws a 400 above `largest` characters. */
export async function renderList<T>(
  records: readonly T[],
  render: (record: T) => Promise<Sendable | undefined>,
  largest = MAX_RESPONSE_CHARS,
): Promise<JsonText> {
  const pause = startTurn();
  const texts: string[] = [];
  let size = 0;
  for (const record of records) {
    const rendered = await render(record);
    if (rendered === undefined) continue;
    const text = writeJson(rendered);
    size += text.length;
    if (size > largest)
      throw pageTooLarge(
        `${texts.length + 1} records`,
        'Ask for fewer, or with select for the fields that are needed.',
      );
    texts.push(text);
    await pause();
  }
  return new JsonText(`[${texts.join(',')}]`);
}
