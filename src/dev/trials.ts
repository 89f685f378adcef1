/**
 * Tries each save against the past: executes the last finished run of every graph that the saved files belong to again,
 * offline and with the new code, and its pinned runs. The re-execution begins beside the reload, so that its verdict is
 * there soon after it; a newer save abandons it.
 */
import type { GraphSpec } from '../graphs/loader.ts';
import type { Clock } from '../kernel/clock.ts';
import type { History } from '../store/port/past.ts';
import type { EventLog } from '../store/port/log.ts';
import { openJudge, withLate, type Judge } from '../past/reexecution/judge.ts';
import { readPins, type Pin } from './pins.ts';
import { verdictLines } from '../past/reexecution/print.ts';
import type { Verdict } from './verdict.ts';

export interface Trials {
  /** Remembers the runs that end in this log. */
  follow(log: Pick<EventLog, 'onCommitted'>): void;
  /** Files of these graphs were saved. */
  begin(graphIds: readonly string[]): void;
  /** The graphs were reloaded: verdicts of the trial under way are told from here on. */
  tell(): void;
  /** The graphs were not reloaded. */
  abandon(): void;
  /** The newest first. */
  verdicts(): readonly Verdict[];
}

export interface TrialsOptions {
  readonly clock: Clock;
  readonly say: (text: string) => void;
  readonly onFault: (error: unknown, context: string) => void;
  /** The project and the log, as the server is configured now. */
  readonly place: () => {
    readonly graphs: readonly GraphSpec[];
    readonly dataDir: string;
    readonly memoryMb: number;
    openPast(): Promise<History>;
  };
}

const MAX_VERDICTS = 100;
/** A trial of one run. A longer run is no check of a save. */
const TIMEOUT_MS = 60_000;
/** Threads that are looked at for a graph's last run of before the start. */
const MAX_THREADS = 200;

const EXACT = {
  match: 'exact',
  from: undefined,
  stubs: [],
  set: {},
  allowUnused: false,
  answers: new Map(),
} as const;

interface Trial {
  readonly abandoned: AbortController;
  /** Settles when its verdicts may be told. */
  readonly told: Promise<void>;
  readonly tell: () => void;
}

export function openTrials({ clock, say, onFault, place }: TrialsOptions): Trials {
  /** Last finished run by graph. */
  const last = new Map<string, Pin>();
  const open = new Map<string, string>();
  const verdicts: Verdict[] = [];
  /** Reasons why runs cannot be tried that were told already: once is enough. */
  const toldReasons = new Set<string>();
  let current: Trial | undefined;

  function abandon(): void {
    current?.abandoned.abort();
    current = undefined;
  }

  async function lastOf(history: History, graphId: string): Promise<Pin | undefined> {
    const known = last.get(graphId);
    if (known !== undefined) return known;
    const threads = await history.past.threads();
    for (const { thread_id: threadId } of threads
      .filter((each) => each.graph_id === graphId)
      .slice(0, MAX_THREADS)) {
      const run = await history.views.runs.latest(threadId);
      if (run?.graphId === graphId && isTriable(run.outcome?.kind))
        return { threadId, runId: run.runId, graphId };
    }
    return undefined;
  }

  async function runTrial(graphIds: readonly string[], { abandoned, told }: Trial): Promise<void> {
    const { graphs, dataDir, memoryMb, openPast } = place();
    const history = await openPast();
    const newJudge = (): Judge =>
      openJudge({
        ...{ graphs, env: {}, memoryMb, timeoutMs: TIMEOUT_MS, clock, output: 'nowhere', live: false },
      });
    try {
      const pins = readPins(dataDir).filter(({ graphId }) => graphIds.includes(graphId));
      const lasts = await Promise.all(graphIds.map((graphId) => lastOf(history, graphId)));
      const runs = new Map(
        [...pins, ...lasts].flatMap((each) => (each === undefined ? [] : [[each.runId, each]])),
      );
      for (const run of runs.values()) {
        const verdict = await tried(newJudge(), history, run, abandoned.signal);
        await told;
        if (abandoned.signal.aborted) return;
        verdicts.unshift(verdict);
        verdicts.length = Math.min(verdicts.length, MAX_VERDICTS);
        print(verdict);
      }
    } finally {
      await history.close();
    }
  }

  /** Each run has a process of its own: what its code is refused when the run is over counts for it. */
  async function tried(judge: Judge, history: History, run: Pin, abandoned: AbortSignal): Promise<Verdict> {
    const began = clock.monotonic();
    const end = (): void => void judge.close();
    abandoned.addEventListener('abort', end, { once: true });
    try {
      const result = await judge.judge(history, run, EXACT);
      const tookMs = clock.monotonic() - began;
      return { result: withLate(result, await judge.close()), at: clock.now(), tookMs };
    } finally {
      abandoned.removeEventListener('abort', end);
      await judge.close();
    }
  }

  function print(verdict: Verdict): void {
    const { verdict: kind, graphId, reasons } = verdict.result;
    const key = `${graphId} ${reasons.join('\n')}`;
    if (kind === 'untried' && toldReasons.has(key)) return;
    if (kind === 'untried') toldReasons.add(key);
    say(verdictLines(verdict.result, verdict.tookMs).join('\n'));
  }

  return {
    follow(log) {
      log.onCommitted(({ events }) => {
        for (const { type, data } of events)
          if (type === 'RunCreated') open.set(data.runId, data.graphId);
          else if (type === 'RunCompleted') {
            const { runId, threadId, outcome } = data;
            const graphId = open.get(runId);
            open.delete(runId);
            if (graphId !== undefined && isTriable(outcome.kind))
              last.set(graphId, { runId, threadId, graphId });
          }
      });
    },
    begin(graphIds) {
      abandon();
      if (graphIds.length === 0) return;
      let tell = (): void => undefined;
      const told = new Promise<void>((resolve) => (tell = resolve));
      const trial: Trial = { abandoned: new AbortController(), told, tell };
      current = trial;
      trial.abandoned.signal.addEventListener('abort', tell, { once: true });
      runTrial(graphIds, trial).catch((error: unknown) => {
        if (!trial.abandoned.signal.aborted) onFault(error, 'trying a save against earlier runs');
      });
    },
    tell: () => current?.tell(),
    abandon,
    verdicts: () => verdicts,
  };
}

/** Runs that ended by themselves. */
const isTriable = (kind: string | undefined): boolean => kind === 'success' || kind === 'error';
