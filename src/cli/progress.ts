/**
 * Shows progress with rate and remaining time on standard error: one line that is rewritten on a terminal, plain lines
 * elsewhere. Work that ends soon shows nothing.
 */
import type { Clock } from '../kernel/clock.ts';
import type { OnProgress, Reached } from '../kernel/progress.ts';
import type { Host } from './host.ts';

export interface Progress {
  readonly report: OnProgress;
  /** Removes the line from a terminal. Call before anything else is printed, and at the end. */
  clear(): void;
}

interface Form {
  /** Before the first line. */
  readonly delayMs: number;
  readonly intervalMs: number;
}

const ON_TERMINAL: Form = { delayMs: 300, intervalMs: 100 };
const ON_LINES: Form = { delayMs: 5_000, intervalMs: 5_000 };

/** Rates of the first moments of a phase say nothing. */
const MIN_RATED_MS = 500;
const CLEAR_LINE = '\r\u001b[2K';

export function openProgress(
  host: Pick<Host, 'errorColumns' | 'printError' | 'writeError'>,
  clock: Pick<Clock, 'monotonic'>,
): Progress {
  const { errorColumns: columns } = host;
  const { delayMs, intervalMs } = columns === undefined ? ON_LINES : ON_TERMINAL;
  let nextAt = clock.monotonic() + delayMs;
  let phase: { readonly name: string; readonly from: number; readonly since: number } | undefined;
  let isShown = false;

  return {
    report(reached) {
      const now = clock.monotonic();
      if (phase?.name !== reached.phase) phase = { name: reached.phase, from: reached.done, since: now };
      if (now < nextAt) return;
      nextAt = now + intervalMs;
      const text = progressText(reached, { done: reached.done - phase.from, ms: now - phase.since });
      if (columns === undefined) return host.printError(text);
      host.writeError(CLEAR_LINE + text.slice(0, columns - 1));
      isShown = true;
    },
    clear() {
      if (isShown) host.writeError(CLEAR_LINE);
      isShown = false;
    },
  };
}

/** `sofar`: what the current phase has done, and in which time. */
function progressText(
  { phase, done, total, unit }: Reached,
  sofar: { readonly done: number; readonly ms: number },
): string {
  const rate = sofar.ms < MIN_RATED_MS || sofar.done <= 0 ? undefined : (sofar.done * 1_000) / sofar.ms;
  const part =
    total === undefined || total === 0 ? '' : ` (${Math.floor((100 * Math.min(done, total)) / total)} %)`;
  const of = total === undefined ? '' : ` of ${amountText(total, unit)}`;
  const noun = unit === 'bytes' || phase.endsWith(unit) ? '' : ` ${unit}`;
  return [
    `${phase}: ${amountText(done, unit)}${of}${noun}${part}`,
    ...(rate === undefined ? [] : [`${amountText(rate, unit)}/s`]),
    ...(rate === undefined || total === undefined || done >= total
      ? []
      : [`${timeText((total - done) / rate)} left`]),
  ].join(', ');
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Formats 12345 events as `12,345`, and bytes as `12.3 kB`. */
export function amountText(amount: number, unit: Reached['unit']): string {
  if (unit !== 'bytes') return Math.round(amount).toLocaleString('en-US');
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, amount)) / 3)));
  const scaled = amount / 1_000 ** power;
  return `${power === 0 ? Math.round(scaled) : scaled.toFixed(1)} ${UNITS[power]}`;
}

function timeText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}
