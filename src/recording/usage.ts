/** Reads from a model's answer how many tokens it used: the shapes of OpenAI, Anthropic and Gemini, whole or as a stream. */
import { plainBody } from './bodies.ts';
import type { RecordedAnswer } from './parts.ts';

export interface TokenUsage {
  readonly input: number;
  readonly output: number;
}

/** An answer of a model; without `tokens` it reports none, without `model` it does not say which one answered. */
export interface ModelAnswer {
  readonly tokens?: TokenUsage;
  readonly model?: string;
}

const READABLE = /json|event-stream/i;
/** Ends of a body within which reports lie: what a model says may be long. */
const HEAD_BYTES = 16_384;
const REPORT = Buffer.from('"usage');
const REPORT_START = /^"usage(?:Metadata)?"\s*:\s*\{/;
const MAX_REPORT_BYTES = 4_096;
/** Found in the first bytes of answers of models, also of those that report no tokens. */
const OF_MODEL =
  /"object"\s*:\s*"(?:chat\.completion|text_completion|response")|"type"\s*:\s*"message(?:_start)?"|"candidates"\s*:/;
const MODEL_NAME = /"model(?:Version)?"\s*:\s*"([^"\\]{1,200})"/;

/** Names of the numbers by provider; numbers of one side are added. */
const INPUT = [
  'prompt_tokens',
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'promptTokenCount',
];
const OUTPUT = ['completion_tokens', 'output_tokens', 'candidatesTokenCount', 'thoughtsTokenCount'];

/** Undefined unless the body is an answer of a model. A stream reports its input first or last, and its output last. */
export function readModelAnswer(
  headers: RecordedAnswer['headers'],
  encoded: Uint8Array,
): ModelAnswer | undefined {
  const header = (name: string) => headers.find(([key]) => key.toLowerCase() === name)?.[1];
  if (!READABLE.test(header('content-type') ?? '')) return undefined;
  const body = Buffer.from(plainBody(encoded, header('content-encoding')));
  const head = body.subarray(0, HEAD_BYTES);
  const first = reportAt(head, head.indexOf(REPORT), 1);
  const last = reportAt(body, body.lastIndexOf(REPORT), -1);
  const input = last?.input ?? first?.input;
  const output = last?.output ?? first?.output;
  const isReported = input !== undefined || output !== undefined;
  if (!isReported && !OF_MODEL.test(head.toString('latin1'))) return undefined;
  const [, model] =
    MODEL_NAME.exec(head.toString('latin1')) ??
    MODEL_NAME.exec(body.toString('latin1', Math.max(0, body.length - HEAD_BYTES))) ??
    [];
  return {
    ...(isReported && { tokens: { input: input ?? 0, output: output ?? 0 } }),
    ...(model !== undefined && { model }),
  };
}

/** The first report from this place on, in either direction, that has numbers: many chunks of a stream have `null` there. */
function reportAt(body: Buffer, from: number, step: 1 | -1): Partial<TokenUsage> | undefined {
  for (
    let at = from;
    at >= 0;
    at = step === 1 ? body.indexOf(REPORT, at + 1) : at === 0 ? -1 : body.lastIndexOf(REPORT, at - 1)
  ) {
    const text = body.toString('latin1', at, at + MAX_REPORT_BYTES);
    const start = REPORT_START.exec(text)?.[0].length;
    if (start === undefined) continue;
    const own = ownMembers(text, start);
    const [input, output] = [sumOf(INPUT, own), sumOf(OUTPUT, own)];
    if (input !== undefined || output !== undefined)
      return { ...(input !== undefined && { input }), ...(output !== undefined && { output }) };
  }
  return undefined;
}

/** The text of an object's members without what they nest: details repeat parts of the numbers. */
function ownMembers(text: string, start: number): string {
  let own = '';
  let depth = 1;
  for (let at = start; at < text.length && depth > 0; at++) {
    const unit = text[at]!;
    if (unit === '{' || unit === '[') depth += 1;
    else if (unit === '}' || unit === ']') depth -= 1;
    else if (depth === 1) own += unit;
  }
  return own;
}

function sumOf(names: readonly string[], members: string): number | undefined {
  let sum: number | undefined;
  for (const name of names) {
    const value = new RegExp(`"${name}"\\s*:\\s*(\\d{1,15})(?![\\d.eE])`).exec(members)?.[1];
    if (value !== undefined) sum = (sum ?? 0) + Number(value);
  }
  return sum;
}
