/** What a stranger sees of an answer, and whether anything in it is alice's. */
import type { Answer } from '../support/with-server.ts';

export const tellsOfAlice = (text: string): boolean =>
  /canary-(secret-)?of-(alice|a-handler)|alice-token/.test(text);

export const holdsAlices = (...answers: Answer[]): boolean =>
  answers.some(({ text, headers }) => tellsOfAlice(text + JSON.stringify([...headers])));

/** Without ids that differ by nature: `words`, in any spelling of them that is asked about, among them. */
export function blind(text: string, words: readonly string[] = []): string {
  const spellings = words.flatMap((word) => [
    ...[
      word,
      word.toLowerCase(),
      word.toWellFormed(),
      encodeURIComponent(word.toWellFormed()),
      JSON.stringify(word).slice(1, -1),
    ],
  ]);
  return [...new Set(spellings)]
    .filter((word) => word !== '')
    .sort((a, b) => b.length - a.length)
    .reduce((seen, word) => seen.replaceAll(word, '<id>'), text)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<id>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+(\+00:00|Z)/g, '<time>')
    .replace(/missing-<id>|\balices\b/g, '<key>');
}

/** All that a client can see. */
export function seen(
  { status, headers, text }: Pick<Answer, 'status' | 'headers' | 'text'>,
  words?: readonly string[],
): string {
  const kept = [...headers]
    .filter(([name]) => name !== 'date')
    .map((entry) => blind(entry.join(': '), words));
  return JSON.stringify([status, ...kept, blind(text, words)]);
}
