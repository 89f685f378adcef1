/** Runs posted work sequentially, in order; a failure rejects only its own `post`. */
export interface Mailbox {
  post<T>(work: () => Promise<T>): Promise<T>;
  readonly idle: boolean;
}

export function createMailbox(): Mailbox {
  let tail: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    post(work) {
      waiting += 1;
      const done = tail.then(work).finally(() => (waiting -= 1));
      tail = done.then(
        () => undefined,
        () => undefined,
      );
      return done;
    },
    get idle() {
      return waiting === 0;
    },
  };
}
