/** Tells the recorded exchanges of a run: a list, or one of them whole. */
import { isObject, type Json } from '../../kernel/json.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { History } from '../../store/port/past.ts';
import { findRun } from '../find.ts';
import { firstWords } from '../tell/summary.ts';
import { clip, counted, durationText } from '../tell/text.ts';
import { readExchanges, type ShownBody, type ShownExchange } from './exchanges.ts';

const MAX_BODY_BYTES = 16 * 1024 * 1024;

export interface CallsOptions {
  readonly json?: boolean;
  /** Number of one of them. */
  readonly n?: string | undefined;
}

export async function tellCalls(
  history: History,
  name: string | undefined,
  { json = false, n }: CallsOptions,
  print: (line: string) => void,
): Promise<void> {
  if (n !== undefined && !/^[1-9]\d*$/.test(n))
    throw new Error(`expected the number of a call, found "${n}"`);
  const { runId, threadId, graphId } = await findRun(history, name);
  const page = n === undefined ? { offset: 0, limit: Infinity } : { offset: Number(n) - 1, limit: 1 };
  const found = await readExchanges(history, runId, { ...page, maxBytes: MAX_BODY_BYTES });
  const { exchanges, total, isRecorded } = found;
  if (n !== undefined && exchanges.length === 0)
    throw new Unavailable(`run ${runId} has ${counted(total, 'recorded call')}, no ${n}`);
  if (json) return print(JSON.stringify({ run_id: runId, thread_id: threadId, exchanges }));
  if (n !== undefined) return printWhole(exchanges[0]!, print);
  print(`Run ${runId} of ${graphId}: ${isRecorded ? counted(total, 'call') : 'it was not recorded'}`);
  const width = String(total).length + 2;
  for (const each of exchanges) {
    print(`${String(each.n).padStart(width)}  ${lineOf(each)}`);
    const indent = ' '.repeat(width + 2);
    print(`${indent}asked     ${wordsOf(each.request.body)}`);
    if (each.answer !== null) print(`${indent}answered  ${wordsOf(each.answer.body)}`);
  }
}

function lineOf({ node, step, request, answer, failure }: ShownExchange): string {
  const place = node === null ? 'outside of nodes' : `${node}, step ${step}`;
  const end =
    answer === null ? (failure?.message ?? 'no answer') : `${answer.status}, ${durationText(answer.took_ms)}`;
  return `${place}  ${clip(`${request.method} ${request.url}`)}  ${end}`;
}

/** The last message of a body that has messages, else its beginning. */
function wordsOf(body: ShownBody | null): string {
  if (body === null || body.size === 0) return 'nothing';
  if (body.text === null || body.encoding === 'base64') return `${body.size ?? 'too many'} bytes`;
  const value = parsed(body.text);
  const messages = isObject(value) ? (value['messages'] ?? value['input'] ?? value['contents']) : undefined;
  const last = Array.isArray(messages) ? messages.at(-1) : undefined;
  return last === undefined ? clip(body.text) : firstWords({ messages: last });
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Not JSON: shown as it is.
    return text;
  }
}

function printWhole(exchange: ShownExchange, print: (line: string) => void): void {
  const { request, answer } = exchange;
  print(`Call ${exchange.n}: ${lineOf(exchange)}`);
  print(`\n${request.method} ${request.url}`);
  if (request.body !== null) print(`\n${request.body.text ?? `${request.body.size} bytes`}`);
  if (answer === null) return;
  print(`\n${answer.status} ${answer.status_text ?? ''}`.trimEnd());
  for (const [name, value] of Object.entries(answer.headers)) print(`${name}: ${value}`);
  print(`\n${answer.body.text ?? `${answer.body.size ?? 'too many'} bytes`}`);
}
