/**
 * Replies that list records, each as large as a state or an input may be. They are made record by record: a thousand of
 * 1 MB held the server's thread for ten seconds, and were longer than a text can be.
 */
import { JsonText, LARGEST_ANSWER, writeJson, type Sendable } from '../kernel/json-text.ts';
import { startTurn } from '../kernel/turn.ts';
import { jsonReply, pageTooLarge } from './replies.ts';

/** What is rendered as undefined is gone by now. Throws a 400 for more than a reply may hold. */
export async function listReply<T>(
  records: readonly T[],
  render: (record: T) => Promise<Sendable | undefined>,
  headers: Readonly<Record<string, string>> = {},
  largest = LARGEST_ANSWER,
): Promise<Response> {
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
  return jsonReply(new JsonText(`[${texts.join(',')}]`), 200, headers);
}
