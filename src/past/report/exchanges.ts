/**
 * The recorded exchanges of a run as the API and `calls --json` tell them: numbered as `rerun --answer` counts them, bodies
 * decoded. R4 Secrets read as their stand-ins, as in the recording.
 */
import { isUtf8 } from 'node:buffer';
import { toTimestamp } from '../../kernel/clock.ts';
import { startTurn } from '../../kernel/turn.ts';
import { encodingOf } from '../../recording/answers.ts';
import { boundedBody } from '../../recording/bodies.ts';
import type { ExchangePart } from '../../recording/parts.ts';
import { openUnpacker } from '../../recording/unpack.ts';
import type { RunSource } from '../trace.ts';

export interface ShownBody {
  readonly content_type: string | null;
  /** Bytes without content encoding; null when they are too many to decode. */
  readonly size: number | null;
  /** Null above `maxBytes`, which leaves the body out. */
  readonly text: string | null;
  readonly encoding: 'utf8' | 'base64';
}

export interface ShownExchange {
  /** From 1. */
  readonly n: number;
  readonly attempt: number;
  /** Null outside of tasks. */
  readonly step: number | null;
  readonly node: string | null;
  readonly at: string;
  readonly request: { readonly method: string; readonly url: string; readonly body: ShownBody | null };
  /** Null when none came. */
  readonly answer: {
    readonly status: number;
    readonly status_text: string | null;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: ShownBody;
    /** Milliseconds from the request to the last byte. */
    readonly took_ms: number;
  } | null;
  readonly failure: { readonly name: string; readonly message: string; readonly code: string | null } | null;
}

export interface ExchangePage {
  readonly exchanges: readonly ShownExchange[];
  /** Of the whole recording. */
  readonly total: number;
  readonly isRecorded: boolean;
}

/** A page, or the last ones. Larger bodies than `maxBytes` are left out. */
export type ExchangeChoice = { readonly maxBytes: number } & (
  { readonly offset: number; readonly limit: number } | { readonly last: number }
);

/** The recording may have come in a file that anybody made. */
export class UnreadableRecording extends Error {
  constructor(cause: unknown) {
    super(`the recording cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** Holds no more than a page of the recording. Throws an `UnreadableRecording`. */
export async function readExchanges(
  { payloads }: Pick<RunSource, 'payloads'>,
  runId: string,
  choice: ExchangeChoice,
): Promise<ExchangePage> {
  const turn = startTurn();
  const unpack = openUnpacker();
  const exchanges: ShownExchange[] = [];
  let total = 0;
  const blobs = await payloads.recording(runId);
  for (const bytes of blobs) {
    const part = orUnreadable(() => unpack(bytes));
    await turn();
    if (part.kind !== 'exchange') continue;
    total += 1;
    const isLast = 'last' in choice;
    if (!isLast && (total <= choice.offset || exchanges.length === choice.limit)) continue;
    exchanges.push(toShown(part, total, choice.maxBytes));
    if (isLast && exchanges.length > choice.last) exchanges.shift();
  }
  return { exchanges, total, isRecorded: blobs.length > 0 };
}

function orUnreadable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UnreadableRecording(error);
  }
}

function toShown(part: ExchangePart, n: number, maxBytes: number): ShownExchange {
  const { attempt, task, at, request, answer, failure } = part;
  const [step, node = ''] = task.split(' ');
  const type = answer?.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return {
    ...{ n, attempt, at: toTimestamp(at) },
    failure:
      failure === undefined
        ? null
        : { ...{ name: failure.name, message: failure.message }, code: failure.code ?? null },
    ...(/^-?\d+$/.test(step!) ? { step: Number(step), node } : { step: null, node: null }),
    request: {
      ...{ method: request.method, url: request.url },
      body: request.body === undefined ? null : toBody(request.body, request.contentType, maxBytes),
    },
    answer:
      answer === undefined
        ? null
        : {
            ...{ status: answer.status, status_text: answer.statusText ?? null },
            headers: Object.fromEntries(answer.headers),
            body: toBody(boundedBody(answer.body, encodingOf(answer), maxBytes), type, maxBytes),
            took_ms: answer.chunks.at(-1)?.[0] ?? 0,
          },
  };
}

function toBody(bytes: Uint8Array | undefined, type: string | undefined, maxBytes: number): ShownBody {
  const isText = bytes === undefined || isUtf8(bytes);
  const encoding = isText ? 'utf8' : 'base64';
  return {
    ...{ content_type: type ?? null, size: bytes?.length ?? null, encoding },
    text: bytes === undefined || bytes.length > maxBytes ? null : Buffer.from(bytes).toString(encoding),
  };
}
