/** Requests to the server that serves this page. Everything comes through the public API with the caller's rights. */
import { signal } from '@preact/signals';

export class ApiError extends Error {
  readonly status: number;
  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}

/** The server does not answer at all, as opposed to a reply that refuses. */
export class Unreachable extends Error {}

export interface Wanted {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Path before `/studio` where the server is mounted below a prefix. */
export const base = location.pathname.slice(0, Math.max(0, location.pathname.indexOf('/studio')));

const KEPT = 'studio-credentials';

/** Headers that identify the caller; they live as long as the browser's tab. */
export const credentials = signal<Readonly<Record<string, string>>>(readKept());
/** The server refused the caller's identity: the page asks for another one. */
export const isRefused = signal(false);

function readKept(): Readonly<Record<string, string>> {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? '{}') as Record<string, string>;
  } catch {
    return {};
  }
}

export function identify(headers: Readonly<Record<string, string>>): void {
  sessionStorage.setItem(KEPT, JSON.stringify(headers));
  credentials.value = headers;
  isRefused.value = false;
}

/** The opened file that the address is about: its routes answer from a log of its own, for reading. */
export function openedFile(): { readonly prefix: string; readonly threadId: string } | undefined {
  const [, prefix, threadId] =
    /^\/studio(\/opened\/[^/]+)\/threads\/([^/]+)/.exec(location.pathname.slice(base.length)) ?? [];
  return prefix === undefined || threadId === undefined ? undefined : { prefix, threadId };
}

function urlOf(path: string, query: Wanted['query'] = {}): string {
  const file = openedFile();
  const prefix = file !== undefined && path.startsWith(`/threads/${file.threadId}`) ? file.prefix : '';
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const text = new URLSearchParams(given).toString();
  return `${base}${prefix}${path}${text === '' ? '' : `?${text}`}`;
}

/** Reads are asked again while the server says that it can answer soon, such as when its graphs are still loading. */
const MAX_ASKED = 10;
const MAX_PAUSE_SECONDS = 5;

export async function send(path: string, wanted: Wanted = {}): Promise<Response> {
  for (let asked = 1; ; asked++) {
    const reply = await sendOnce(path, wanted);
    if (reply.ok) return reply;
    const pause = Number(reply.headers.get('retry-after'));
    if (reply.status === 503 && pause > 0 && (wanted.method ?? 'GET') === 'GET' && asked < MAX_ASKED) {
      await new Promise((go) => setTimeout(go, Math.min(pause, MAX_PAUSE_SECONDS) * 1000));
      wanted.signal?.throwIfAborted();
      continue;
    }
    if (reply.status === 401) isRefused.value = true;
    throw new ApiError(reply.status, await detailOf(reply));
  }
}

async function sendOnce(path: string, wanted: Wanted): Promise<Response> {
  const { method = 'GET', query, body, headers, signal: stop } = wanted;
  const isFile = body instanceof Blob;
  try {
    return await fetch(urlOf(path, query), {
      method,
      headers: {
        ...credentials.value,
        ...headers,
        ...(body !== undefined && {
          'content-type': isFile ? 'application/octet-stream' : 'application/json',
        }),
      },
      ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
      ...(stop !== undefined && { signal: stop }),
    });
  } catch (error) {
    if (stop?.aborted === true) throw error;
    throw new Unreachable('The server does not answer.', { cause: error });
  }
}

export async function ask<T>(path: string, wanted?: Wanted): Promise<T> {
  const reply = await send(path, wanted);
  return (reply.status === 204 ? undefined : await reply.json()) as T;
}

async function detailOf(reply: Response): Promise<string> {
  const text = await reply.text();
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    if (typeof detail === 'string') return detail;
    return detail === undefined ? text : JSON.stringify(detail);
  } catch {
    return text.slice(0, 300) || `${reply.status} ${reply.statusText}`;
  }
}

/** One calm sentence about a failed request. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) return 'Your session has ended. Sign in again.';
  if (error instanceof ApiError && error.status === 403) return `You may not do this: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
