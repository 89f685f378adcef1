import type { CommitResult } from '../port/log.ts';

/** A part of the refused batch may be written, and has to be undone. */
export class Refused extends Error {
  readonly result: CommitResult;
  constructor(result: CommitResult) {
    super(result.kind);
    this.result = result;
  }
}
