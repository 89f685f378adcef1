/** Logs requests: at level `debug` all of them, at every level those with a status of 500 or more. */
import type { OnEntry } from '../observe/entry.ts';

export interface RequestLine {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Milliseconds until the reply starts. */
  readonly ms: number;
  /** Headers that the configuration allows in log lines. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface RequestLog {
  /** Replies with a lower status are not logged. */
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
