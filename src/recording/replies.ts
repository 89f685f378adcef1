/** Delivers a recorded answer part by part, each in its turn. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { numberedFrom, type Arrivals } from './arrivals.ts';
import type { ExchangePart, RecordedAnswer, RecordedFailure } from './parts.ts';
import type { Receiver } from './session.ts';

/** Numbers of the arrivals of an exchange: of its head, its chunks, and its end. */
export function numbersOf({ attempt, answer, ended }: ExchangePart): number[] {
  let last = answer?.arrival ?? 0;
  const chunks = answer?.chunks.map(([, , step = 1]) => (last += step)) ?? [];
  return [answer?.arrival, ...chunks, ended].flatMap((number) => numberedFrom(attempt, number));
}

/**
 * `onWhole` is called when the code has got all of it. Returns what to call when the code breaks off. What had not arrived when
 * the attempt ended never does.
 */
export function deliverAnswer(
  exchange: ExchangePart,
  instead: string | undefined,
  arrivals: Arrivals,
  receiver: Receiver,
  onWhole: () => void,
): () => void {
  const numbers = numbersOf(exchange);
  const { failure, ended } = exchange;
  const answer = exchange.answer && withBody(exchange.answer, instead);
  const end = (): void => {
    if (failure !== undefined && (answer === undefined || instead === undefined))
      receiver.failed(fromFailure(failure));
    else {
      onWhole();
      receiver.completed();
    }
  };
  const parts = [
    ...(answer === undefined ? [] : [() => receiver.head(answer)]),
    ...chunksOf(answer).map((chunk) => () => receiver.data(chunk)),
    ...(ended === undefined ? [] : [end]),
  ];
  // A body that replaces the recorded one is a single chunk, which comes with the last.
  if (instead !== undefined && numbers.length > parts.length)
    arrivals.drop(numbers.splice(1, numbers.length - parts.length));
  const inContext = AsyncLocalStorage.snapshot();
  let isDropped = false;
  const expect = (from: number): void => {
    if (from >= parts.length || isDropped) return;
    const next = numbers.findIndex((number, at) => at > from && number !== numbers[from]);
    const to = next < 0 ? parts.length : next;
    arrivals.expect(numbers[from]!, () => {
      for (const part of parts.slice(from, to)) if (!isDropped) inContext(part);
      expect(to);
    });
  };
  expect(0);
  return () => {
    isDropped = true;
    arrivals.drop(numbers);
  };
}

/** The body in the chunks in which it arrived. */
function chunksOf(answer: RecordedAnswer | undefined): Buffer[] {
  let at = 0;
  return (answer?.chunks ?? []).map(([, bytes]) => Buffer.from(answer!.body.subarray(at, (at += bytes))));
}

/** A replaced body is text, whatever the recorded one was. */
function withBody(answer: RecordedAnswer, instead: string | undefined): RecordedAnswer {
  if (instead === undefined) return answer;
  const body = Buffer.from(instead);
  const headers = answer.headers.filter(([name]) => !/^content-(encoding|length)$/i.test(name));
  return { ...answer, headers, body, chunks: [[0, body.length]] };
}

export function toFailure(error: unknown): RecordedFailure {
  const { name = 'Error', message = String(error), code } = (error ?? {}) as Partial<RecordedFailure>;
  return { name, message, ...(typeof code === 'string' && { code }) };
}

export const fromFailure = ({ name, message, code }: RecordedFailure): Error =>
  Object.assign(new Error(message), { name, ...(code !== undefined && { code }) });
