/** Converts a recording to an HTTP archive (HAR 1.2), which browsers and proxies read. */
import { isUtf8 } from 'node:buffer';
import { toTimestamp } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { PRODUCT, VERSION } from '../../kernel/product.ts';
import { encodingOf } from '../../recording/answers.ts';
import { plainBody } from '../../recording/bodies.ts';
import type { ExchangePart, RecordingPart } from '../../recording/parts.ts';

export const toHar = (parts: readonly RecordingPart[]): JsonObject => ({
  log: {
    version: '1.2',
    creator: { name: PRODUCT, version: VERSION },
    entries: parts.flatMap((part) => (part.kind === 'exchange' ? [toEntry(part)] : [])),
  },
});

function toEntry({ request, answer, failure, at, task }: ExchangePart): JsonObject {
  const { method, url, contentType = '', body } = request;
  const sent = Buffer.from(body ?? []);
  const packed = answer?.body ?? new Uint8Array();
  const received = Buffer.from(answer === undefined ? packed : plainBody(packed, encodingOf(answer)));
  const duration = answer?.chunks.at(-1)?.[0] ?? 0;
  const first = answer?.chunks[0]?.[0] ?? duration;
  const header = (searched: string): string =>
    answer?.headers.find(([name]) => name.toLowerCase() === searched)?.[1] ?? '';
  return {
    startedDateTime: toTimestamp(at),
    time: duration,
    request: {
      ...{ method, url, httpVersion: 'HTTP/1.1', cookies: [], headersSize: -1, bodySize: sent.length },
      headers: contentType === '' ? [] : [{ name: 'content-type', value: contentType }],
      queryString: [...(URL.canParse(url) ? new URL(url).searchParams : [])].map(([name, value]) => ({
        name,
        value,
      })),
      ...(body !== undefined && { postData: { mimeType: contentType, text: sent.toString('utf8') } }),
    },
    response: {
      ...{ status: answer?.status ?? 0, statusText: answer?.statusText ?? failure?.message ?? '' },
      ...{
        httpVersion: 'HTTP/1.1',
        cookies: [],
        redirectURL: header('location'),
        headersSize: -1,
        bodySize: packed.length,
      },
      headers: (answer?.headers ?? []).map(([name, value]) => ({ name, value })),
      content: {
        ...{ size: received.length, mimeType: header('content-type') },
        ...(isUtf8(received)
          ? { text: received.toString('utf8') }
          : { text: received.toString('base64'), encoding: 'base64' }),
      },
    },
    cache: {},
    timings: { send: 0, wait: first, receive: duration - first },
    comment: task,
  };
}
