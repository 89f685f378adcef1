/**
 * Replies whose parts are known. Adding a header to a `Response` makes a `Headers` object, which costs more than the rest
 * of a small reply; these are made again with more headers instead.
 */

type Headers = Readonly<Record<string, string>>;
type Body = string | Uint8Array<ArrayBuffer> | ReadableStream | null;

interface Parts {
  readonly body: Body;
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Headers;
}

const PARTS = Symbol('the parts of a reply');

export function ownReply(body: Body, status: number, headers: Headers): Response {
  const response = new Response(body, { status, headers });
  (response as { [PARTS]?: Parts })[PARTS] = { body, status, headers };
  return response;
}

/** Undefined for a response of other code, and for a copy. Nothing changes the headers of a reply that has parts. */
export const partsOf = (response: Response): Parts | undefined => (response as { [PARTS]?: Parts })[PARTS];

/** Reads and sets headers by names in lower case. */
export interface ReplyHeaders {
  get(name: string): string | null;
  set(name: string, value: string): void;
}

/** The reply after `change` of its headers: a new one if its parts are known. */
export function withHeaders(response: Response, change: (headers: ReplyHeaders) => void): Response {
  const parts = partsOf(response);
  if (parts === undefined) {
    change(response.headers);
    return response;
  }
  const headers: Record<string, string> = { ...parts.headers };
  change({
    get: (name) => headers[name] ?? null,
    set: (name, value) => void (headers[name] = value),
  });
  return ownReply(parts.body, parts.status, headers);
}
