/**
 * W3 Limits concurrent webhook attempts per receiver. After many failures in a row it allows one attempt at a time,
 * after growing pauses, until one succeeds. Waiting uses up none of a delivery's attempts. `now` is in monotonic
 * milliseconds.
 */
export interface HostGate {
  /** Number of attempts that may start now. */
  room(host: string, now: number): number;
  underWay(host: string): number;
  begin(host: string): void;
  end(host: string, isWell: boolean, now: number): void;
  /** Earliest time at which a paused receiver may be tried; undefined when none is paused. */
  nextOpening(now: number): number | undefined;
}

interface HostState {
  underWay: number;
  /** Failures in a row. */
  failures: number;
  openAt: number;
}

const MAX_FAILURES = 10;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** Bound on remembered receivers: beyond it even failing ones are dropped once idle. */
const MAX_HOSTS = 10_000;

export function createHostGate(perHost: number): HostGate {
  const hosts = new Map<string, HostState>();
  const isTripped = ({ failures }: HostState): boolean => failures >= MAX_FAILURES;

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
        const doublings = Math.min(state.failures - MAX_FAILURES, 16);
        state.openAt = now + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** doublings);
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
