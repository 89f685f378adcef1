/**
 * W3 How many attempts may go to a receiver now: a few at once, and when many failed in a row, one after a pause that
 * grows, until one is taken. What waits for a receiver costs none of its attempts. `now` is of a clock that never jumps.
 */
export interface HostGate {
  /** How many more attempts may begin. */
  room(host: string, now: number): number;
  underWay(host: string): number;
  begin(host: string): void;
  end(host: string, isWell: boolean, now: number): void;
  /** When the next receiver that is left alone may be tried; undefined when there is none. */
  nextOpening(now: number): number | undefined;
}

interface HostState {
  underWay: number;
  /** In a row. */
  failures: number;
  openAt: number;
}

const TRIPS_AT = 10;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Receivers that fail are remembered, but not without end. */
const MAX_HOSTS = 10_000;

export function createHostGate(perHost: number): HostGate {
  const hosts = new Map<string, HostState>();
  const isTripped = ({ failures }: HostState): boolean => failures >= TRIPS_AT;

  return {
    room(host, now) {
      const state = hosts.get(host);
      if (state === undefined) return perHost;
      if (!isTripped(state)) return perHost - state.underWay;
      return now < state.openAt ? 0 : Math.max(0, 1 - state.underWay);
    },
    underWay: (host) => hosts.get(host)?.underWay ?? 0,
    begin(host) {
      const state = hosts.get(host);
      if (state !== undefined) state.underWay += 1;
      else hosts.set(host, { underWay: 1, failures: 0, openAt: 0 });
    },
    end(host, isWell, now) {
      const state = hosts.get(host);
      if (state === undefined) return;
      state.underWay -= 1;
      state.failures = isWell ? 0 : state.failures + 1;
      if (isTripped(state)) {
        const doublings = Math.min(state.failures - TRIPS_AT, 16);
        state.openAt = now + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** doublings);
      }
      if (state.underWay === 0 && (isWell || hosts.size > MAX_HOSTS)) hosts.delete(host);
    },
    nextOpening(now) {
      const openings = [...hosts.values()].flatMap((state) =>
        isTripped(state) && state.openAt > now ? [state.openAt] : [],
      );
      return openings.length === 0 ? undefined : Math.min(...openings);
    },
  };
}
