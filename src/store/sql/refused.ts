import type { CommitResult } from '../port/log.ts';

/** The transaction is undone and sent again: another one has changed what it takes for granted. */
export class Outdated extends Error {
  constructor() {
    super('another transaction changed what this one takes for granted');
  }
}

/** A part of the refused batch may be written, and has to be undone. */
export class Refused extends Error {
  readonly result: CommitResult;
  constructor(result: CommitResult) {
    super(result.kind);
    this.result = result;
  }
}
