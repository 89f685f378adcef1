/** Tells two observers of one exchange what happens. */
import type { Exchange } from './session.ts';

export const both = (a: Exchange, b: Exchange): Exchange => ({
  sent(chunk) {
    a.sent(chunk);
    b.sent(chunk);
  },
  answered(...head) {
    a.answered(...head);
    b.answered(...head);
  },
  received(chunk) {
    a.received(chunk);
    b.received(chunk);
  },
  ended(failure) {
    a.ended(failure);
    b.ended(failure);
  },
  aborted() {
    a.aborted();
    b.aborted();
  },
  idempotencyKey: b.idempotencyKey,
});
