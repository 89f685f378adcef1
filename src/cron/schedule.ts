/**
 * When a schedule comes, in whole seconds. Pure: the same question always has the same answer, but for what the
 * platform knows of time zones.
 *
 * Where clocks are put forward, a fixed time of day that is left out comes as the gap ends; one that is met twice when
 * they are put back comes the first time. A schedule with `*` in its hours or minutes goes by real time: it comes in
 * both of two equal hours and not in one that is left out.
 */
import { Cron } from 'croner';

export interface Schedule {
  /** Five fields, six with seconds in front, or a name such as `@daily`. */
  readonly schedule: string;
  /** An IANA name; null is UTC. */
  readonly timezone: string | null;
}

const LONGEST = 256;
/** Names of schedules, as crontab has them; `@reboot` is none. */
const NICKNAME = /^ *@(yearly|annually|monthly|weekly|daily|midnight|hourly) *$/i;
/** Without `?`, which would be filled in from the moment of asking. */
const FIELDS = /^ *[\dA-Za-z*,/#+-]+( +[\dA-Za-z*,/#+-]+){4,5} *$/;
const ZONE = /^[A-Za-z][\w+/-]*$/;

const open = ({ schedule, timezone }: Schedule): Cron =>
  new Cron(schedule, {
    mode: '5-or-6-parts',
    fixedTimeRule: 'no-wildcard',
    paused: true,
    timezone: timezone ?? 'UTC',
  });

/** Undefined when the expression can be used. */
export function findScheduleProblem(schedule: string): string | undefined {
  if (schedule.length > LONGEST) return `expected at most ${LONGEST} characters`;
  if (!FIELDS.test(schedule) && !NICKNAME.test(schedule))
    return 'expected five fields (minute, hour, day, month, weekday), six with seconds in front, or a name such as @daily';
  try {
    open({ schedule, timezone: null });
    return undefined;
  } catch (error) {
    return `expected a cron expression (${(error as Error).message.replace(/^CronPattern: /, '')})`;
  }
}

/** Undefined when the platform knows the zone. */
export function findZoneProblem(timezone: string): string | undefined {
  const problem = 'expected the IANA name of a time zone, such as "Europe/Berlin"';
  if (timezone.length > LONGEST || !ZONE.test(timezone)) return problem;
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return undefined;
  } catch {
    return problem;
  }
}

/** The first slot after a moment, milliseconds since 1970; null when there is none any more. */
export function nextSlot(schedule: Schedule, after: number): number | null {
  return open(schedule).nextRun(new Date(after))?.getTime() ?? null;
}

/** The newest `most` slots up to a moment and with it, oldest first. */
export function lastSlots(schedule: Schedule, upTo: number, most: number): number[] {
  // Strictly before the next second.
  const end = new Date((Math.floor(upTo / 1000) + 1) * 1000);
  return open(schedule)
    .previousRuns(most, end)
    .map((slot) => slot.getTime())
    .sort((a, b) => a - b);
}
