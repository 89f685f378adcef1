/** The head of a recorded answer: headers by an allow-list, because others may hold secrets that nothing tells of. */
import type { Masks } from './masks.ts';
import type { RecordedAnswer } from './parts.ts';
import { maskQuery } from './urls.ts';

const KEPT: ReadonlySet<string> = new Set([
  ...['content-type', 'location', 'link', 'retry-after', 'mcp-session-id'],
  // A player answers with the encoded body, and clients decide by these whether they ask again.
  ...['content-encoding', 'retry-after-ms', 'x-should-retry'],
]);

export type AnswerHead = Omit<RecordedAnswer, 'chunks' | 'body' | 'arrival'>;

export const answerHead = (
  status: number,
  statusText: string | undefined,
  headers: RecordedAnswer['headers'],
  masks: Masks,
): AnswerHead => ({
  status,
  ...(statusText !== undefined && { statusText: masks.text(statusText) }),
  headers: headers
    .filter(([name]) => KEPT.has(name.toLowerCase()))
    .map(([name, value]) => [name, masks.text(maskQuery(value))]),
});

export const encodingOf = ({ headers }: AnswerHead): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1];
