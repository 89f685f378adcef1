/** Requests in the server's log: each one at `debug`, and at any level those that the server failed to answer. */
import type { OnEntry } from '../observe/entry.ts';

export interface RequestLine {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Until the reply began. */
  readonly ms: number;
  /** Those that the configuration lets be seen. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface RequestLog {
  /** Replies with a lower status are not told. */
  readonly minStatus: number;
  readonly onRequest: (line: RequestLine) => void;
}

const MIN_FAILED_STATUS = 500;

export const createRequestLog = (onEntry: OnEntry, { all }: { readonly all: boolean }): RequestLog => ({
  minStatus: all ? 0 : MIN_FAILED_STATUS,
  onRequest: (line) =>
    onEntry({
      level: line.status < MIN_FAILED_STATUS ? 'debug' : 'error',
      message: 'request',
      members: { ...line },
    }),
});
