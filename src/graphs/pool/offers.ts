/**
 * Runs that were given to a worker and that it has not begun, in memory that both threads share: a worker that stands
 * still hears nobody, and yet must never begin what was taken back from it.
 */
import { OFFERS } from './sides.ts';

export interface Offers {
  /** Whether the run can be taken back; one that finds no room cannot. */
  offer(job: number): boolean;
  /** Whether it is the server's again: the worker has not begun it, and never will. */
  takeBack(job: number): boolean;
}

export function openOffers(shared: SharedArrayBuffer): Offers {
  const places = new Int32Array(shared);
  return {
    offer: (job) => Atomics.compareExchange(places, placeOf(job, places), 0, job) === 0,
    takeBack: (job) => Atomics.compareExchange(places, placeOf(job, places), job, 0) === job,
  };
}

/** For the worker, which begins what was offered only when this says so. */
export function openTaking(shared: SharedArrayBuffer): (job: number) => boolean {
  const places = new Int32Array(shared);
  return (job) => Atomics.compareExchange(places, placeOf(job, places), job, 0) === job;
}

const placeOf = (job: number, { length }: Int32Array): number => OFFERS + (job % (length - OFFERS));
