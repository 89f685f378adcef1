/**
 * Computes the slots of a schedule, in whole seconds. Pure, apart from the platform's time zone data.
 *
 * Daylight saving: a fixed time of day in a skipped hour moves to the end of the gap. In a repeated hour it counts the
 * first time only. A schedule with `*` in hours or minutes follows real time: it runs in both repeated hours and not in
 * a skipped one.
 */
import { Cron } from 'croner';

export interface Schedule {
  /** Five cron fields, six with leading seconds, or a name such as `@daily`. */
  readonly schedule: string;
  /** IANA name; null: UTC. */
  readonly timezone: string | null;
}

const MAX_CHARACTERS = 256;
/** Schedule names of crontab, except `@reboot`. */
const NICKNAME = /^ *@(yearly|annually|monthly|weekly|daily|midnight|hourly) *$/i;
/** Excludes `?`, which croner replaces by the current time. */
const FIELDS = /^ *[\dA-Za-z*,/#+-]+( +[\dA-Za-z*,/#+-]+){4,5} *$/;
const ZONE = /^[A-Za-z][\w+/-]*$/;

const open = ({ schedule, timezone }: Schedule): Cron =>
  new Cron(schedule, {
    mode: '5-or-6-parts',
    fixedTimeRule: 'no-wildcard',
    paused: true,
    timezone: timezone ?? 'UTC',
  });

/** Describes why the expression is invalid; undefined when it is valid. */
export function findScheduleProblem(schedule: string): string | undefined {
  if (schedule.length > MAX_CHARACTERS) return `expected at most ${MAX_CHARACTERS} characters`;
  if (!FIELDS.test(schedule) && !NICKNAME.test(schedule))
    return 'expected five fields (minute, hour, day, month, weekday), six with seconds in front, or a name such as @daily';
  try {
    open({ schedule, timezone: null });
    return undefined;
  } catch (error) {
    return `expected a cron expression (${(error as Error).message.replace(/^CronPattern: /, '')})`;
  }
}

/** Describes why the zone is invalid; undefined when the platform knows it. */
export function findZoneProblem(timezone: string): string | undefined {
  const problem = 'expected the IANA name of a time zone, such as "Europe/Berlin"';
  if (timezone.length > MAX_CHARACTERS || !ZONE.test(timezone)) return problem;
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return undefined;
  } catch {
    return problem;
  }
}

/** First slot after a time in milliseconds since 1970; null when there is none. */
export function nextSlot(schedule: Schedule, after: number): number | null {
  return open(schedule).nextRun(new Date(after))?.getTime() ?? null;
}

/** Returns the newest `count` slots up to and including `upTo`, oldest first. */
export function lastSlots(schedule: Schedule, upTo: number, count: number): number[] {
  // `previousRuns` is exclusive, so the bound is the next second.
  const end = new Date((Math.floor(upTo / 1000) + 1) * 1000);
  return open(schedule)
    .previousRuns(count, end)
    .map((slot) => slot.getTime())
    .sort((a, b) => a - b);
}
