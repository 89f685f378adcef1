/**
 * Order of what reaches a re-executed run from outside: heads, chunks, ends and failures of answers, answers of the item
 * store, and timers. An arrival is delivered when all that were recorded before it are, and the code has come to rest.
 * Code that did not change asks for everything before its turn comes. After `patienceMs` without any activity the earliest
 * arrival that is asked for is delivered, and those before it block no more.
 */
import { isWorking, pendingImmediates } from './open-work.ts';

/** A timer without a recorded arrival: it is new, or had not fired when the recording ended. */
interface SpareTimer {
  readonly delayMs: number;
  /** It fires again and again, and does nothing most of the time. */
  readonly isPoll: boolean;
  readonly isLive: () => boolean;
  readonly fire: () => void;
}

export interface Arrivals {
  /** Delivers the arrival with this number in its turn. */
  expect(number: number, deliver: () => void): void;
  /** Arrivals that the code no longer waits for block no others. */
  drop(numbers: readonly number[]): void;
  /** Fires the timer once nothing else can happen; of several that with the earliest due time. */
  spare(timer: SpareTimer): void;
  /** Says that the code did something. */
  touch(): void;
  /** Delivers the remaining arrivals that are asked for; what comes of them may ask for more. */
  settle(): Promise<void>;
  /** Begins to watch for activity. */
  open(): void;
  close(): void;
}

export interface ArrivalOptions {
  /** Numbers of all recorded arrivals. */
  readonly numbers: readonly number[];
  readonly patienceMs: number;
  /** The code waits for something that never comes. */
  readonly onStalled: () => void;
}

/** Later attempts come after earlier ones, whose arrivals are numbered from 1 too. */
export const numberedFrom = (attempt: number, number: number | null | undefined): number[] =>
  number === undefined || number === null ? [] : [attempt * 2 ** 40 + number];

const TICK_MS = 10;
/** Code that waits for nothing recorded might wait for work that cannot be seen. */
const STALLED_MS = 500;
/** An interval that is never cleared would fire for ever. */
const MAX_SPARE_FIRES = 100;
/** Immediates that call one another would never come to rest. */
const MAX_BUSY_TURNS = 50;
/** Processor time, of other threads too, shows work that no counter knows: half of an idle time, and the system's unit. */
const MIN_BUSY_MS = 10;

const { setImmediate: realImmediate, setTimeout: realTimeout, clearTimeout: realClear } = globalThis;

interface Arrival {
  readonly index: number;
  deliver?: () => void;
  isOver: boolean;
}

export function openArrivals({ numbers, patienceMs, onStalled }: ArrivalOptions): Arrivals {
  const byNumber = new Map<number, Arrival>(
    [...new Set(numbers)].sort((a, b) => a - b).map((number, index) => [number, { index, isOver: false }]),
  );
  const all = [...byNumber.values()];
  let next = 0;
  /** Arrivals that were asked for after the order had gone on without them. */
  const late: Arrival[] = [];
  let isTurning = false;
  let isClosed = false;
  let busyTurns = 0;
  let isActive = true;
  let idleMs = 0;
  let cpu = process.cpuUsage();
  const spares = new Map<SpareTimer, number>();
  let spareTime = 0;
  let fires = 0;
  /** The polls have fired since the code was last active. */
  let hasPolled = false;
  let watch: NodeJS.Timeout | undefined;

  function turnSoon(): void {
    if (isTurning || isClosed) return;
    isTurning = true;
    realImmediate(turn);
  }

  /** An event loop's turn delivers one arrival, after everything that followed from the one before. */
  function turn(): void {
    isTurning = false;
    if (isClosed) return;
    while (all[next]?.isOver === true) next += 1;
    const arrival = late[0] ?? all[next];
    if (arrival?.deliver === undefined) return;
    if (isWorking() || (pendingImmediates() > 0 && ++busyTurns < MAX_BUSY_TURNS)) return turnSoon();
    busyTurns = 0;
    if (arrival === late[0]) late.shift();
    else next += 1;
    turnSoon();
    deliver(arrival);
  }

  function deliver(arrival: Arrival): void {
    if (arrival.isOver) return;
    arrival.isOver = true;
    isActive = true;
    arrival.deliver!();
  }

  function look(): void {
    watch = realTimeout(look, TICK_MS);
    if (isActive) hasPolled = false;
    const { user, system } = process.cpuUsage(cpu);
    if (isActive || isWorking() || (user + system) / 1_000 > idleMs / 2 + MIN_BUSY_MS) {
      idleMs = 0;
      cpu = process.cpuUsage();
    } else idleMs += TICK_MS;
    isActive = false;
    if (idleMs >= patienceMs) goOn();
  }

  function goOn(): void {
    const earliest = all.find(({ deliver: asked, isOver, index }) => index >= next && asked && !isOver);
    if (earliest !== undefined) {
      next = earliest.index;
      return turnSoon();
    }
    for (const timer of spares.keys()) if (!timer.isLive()) spares.delete(timer);
    const polls = [...spares.keys()].filter(({ isPoll }) => isPoll);
    if (!hasPolled && polls.length > 0) {
      hasPolled = true;
      for (const timer of polls) fire(timer);
      return;
    }
    const [first] = [...spares].filter(([{ isPoll }]) => !isPoll).sort(([, a], [, b]) => a - b);
    if (first === undefined || fires >= MAX_SPARE_FIRES) {
      if (idleMs >= STALLED_MS) onStalled();
      return;
    }
    fires += 1;
    isActive = true;
    spareTime = Math.max(spareTime, first[1]);
    fire(first[0]);
  }

  function fire(timer: SpareTimer): void {
    spares.delete(timer);
    timer.fire();
  }

  return {
    expect(number, deliver) {
      isActive = true;
      const arrival = byNumber.get(number);
      if (arrival === undefined || arrival.isOver) return;
      arrival.deliver = deliver;
      if (arrival.index < next) late.push(arrival);
      turnSoon();
    },
    drop(dropped) {
      for (const number of dropped) {
        const arrival = byNumber.get(number);
        if (arrival !== undefined) arrival.isOver = true;
      }
      turnSoon();
    },
    spare(timer) {
      if (!timer.isPoll) isActive = true;
      spares.set(timer, spareTime + timer.delayMs);
    },
    touch() {
      isActive = true;
    },
    async settle() {
      for (;;) {
        const at = all.findIndex(({ deliver: asked, isOver }) => asked && !isOver);
        if (at < 0 || isClosed) return;
        deliver(all[at]!);
        await new Promise<void>((resolve) => realImmediate(resolve));
      }
    },
    open() {
      watch = realTimeout(look, TICK_MS);
    },
    close() {
      isClosed = true;
      realClear(watch);
    },
  };
}
