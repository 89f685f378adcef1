/** Reads and parses request bodies within limits of bytes, values and nesting. */
import { findJsonProblem, MAX_DEPTH, type Json } from '../kernel/json.ts';
import { findFaultIn } from '../kernel/json-scan.ts';
import { encodedBody, HttpProblem, invalid, tooLarge, tooManyValues, tooMuchAtOnce } from './replies.ts';

/** Bytes that bodies still arriving may hold together: `maxBytes` is the limit, `heldBytes` the current sum. */
export interface BodyBudget {
  readonly maxBytes: number;
  heldBytes: number;
}

/** The body is not JSON. */
export class NoJson extends HttpProblem {
  constructor(problem: string) {
    super(422, `body: expected JSON (${problem})`);
  }
}

/** Shared, because creating one costs more than decoding a small body. */
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Shorter bodies cannot hold enough values to matter. */
const MAX_UNSCANNED_UTF16_UNITS = 65_536;
/**
 * Maximum weight of a body: about 250 ms of the main thread from the bytes to commit and reply. Parsing takes about a
 * hundred times as long as the scan, and storing and serializing the values as long again.
 */
export const MAX_VALUES = 500_000;

/** Bytes of each body that the shared budget does not count: large bodies cannot block small ones. */
const FREE_BYTES = 65_536;

/**
 * The body's bytes. Throws a 413 as soon as more than `limit` bytes are announced or arrive. Throws a 503 if a large
 * body exceeds the shared budget.
 */
export async function readBytes(
  request: Request,
  limit: number,
  budget: BodyBudget,
): Promise<Uint8Array<ArrayBuffer>> {
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > limit) throw tooLarge(limit);
  if (announced > 0 && announced <= FREE_BYTES) return readAnnounced(request, limit);
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let shared = 0;
  try {
    for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > limit) throw tooLarge(limit);
      if (size > FREE_BYTES) {
        if (budget.heldBytes + chunk.byteLength > budget.maxBytes) throw tooMuchAtOnce();
        shared += chunk.byteLength;
        budget.heldBytes += chunk.byteLength;
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof HttpProblem) throw error;
    // The client disconnected and never reads this reply; as a 422 it is not logged as a server fault.
    throw invalid(`body: the connection ended after ${size} bytes`);
  } finally {
    budget.heldBytes -= shared;
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** Reads an uncompressed body like `readBytes`; throws a 415 when it has a content encoding. */
export function readPlain(
  request: Request,
  limit: number,
  budget: BodyBudget,
): Promise<Uint8Array<ArrayBuffer>> {
  assertPlain(request);
  return readBytes(request, limit, budget);
}

/** Throws a 415 for a body with a content encoding. */
export function assertPlain(request: Request): void {
  const encoding = request.headers.get('content-encoding')?.trim() ?? '';
  if (!/^(identity)?$/i.test(encoding)) throw encodedBody(encoding);
}

/** Reads a body with a content length in one call: Node's HTTP parser delivers no more bytes than announced. */
async function readAnnounced(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  let bytes: ArrayBuffer;
  try {
    bytes = await request.arrayBuffer();
  } catch (error) {
    throw invalid(`body: the connection ended early (${(error as Error).message})`);
  }
  // The content length of an in-process request is not enforced by a parser.
  if (bytes.byteLength > limit) throw tooLarge(limit);
  return new Uint8Array(bytes);
}

/** The parsed body, `undefined` for an empty one. Existing clients need every content type to be read as JSON. */
export function parseBody(bytes: Uint8Array): Json | undefined {
  if (bytes.byteLength === 0) return undefined;
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (error) {
    throw invalid(`body: expected UTF-8 text (${(error as Error).message})`);
  }
  if (text.trim() === '') return undefined;
  if (text.length > MAX_UNSCANNED_UTF16_UNITS) checkBounds(text);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw new NoJson((error as Error).message.slice(0, 120));
  }
  const problem = findJsonProblem(value, { checksTexts: true });
  if (problem !== undefined) throw invalid(`${problem.path}: ${problem.problem}`);
  return value;
}

/** Throws a 413 for more than `MAX_VALUES`, and a 422 for nesting deeper than `MAX_DEPTH` or no JSON. */
function checkBounds(text: string): void {
  const fault = findFaultIn(text, { maxDepth: MAX_DEPTH, maxWeight: MAX_VALUES });
  if (fault === undefined) return;
  const { kind, reason, path } = fault;
  throw kind === 'weight'
    ? tooManyValues(MAX_VALUES)
    : kind === 'depth'
      ? invalid(`${path}: ${reason}`)
      : new NoJson(reason);
}
