/**
 * Judges runs in closed processes, one at a time. Runs share a process until one is not equal there: what an earlier run
 * left behind may have made the difference, so a verdict against a run comes from a process that has executed no other.
 */
import { loadCompiler } from '../../graphs/modules/compiler.ts';
import type { GraphSpec } from '../../graphs/loader.ts';
import type { History } from '../../store/port/past.ts';
import type { RunRef } from '../../thread/events.ts';
import type { ClosedOptions } from './closed-messages.ts';
import { startClosed, type ClosedProcess, type ProcessOptions } from './closed-process.ts';
import { reexecute, type Reexecution } from './execute.ts';
import type { Pauses } from './pauses.ts';
import { readRunData, type RunData } from './run-data.ts';
import type { RunTrace } from '../trace.ts';
import { openSandbox } from './sandbox.ts';

export interface Judge {
  /** `expected`: the trace to compare with, instead of the recorded one. */
  judge(
    history: History,
    run: RunRef,
    options: Omit<ClosedOptions, 'live'>,
    expected?: RunTrace,
  ): Promise<Reexecution>;
  /** Ends the process. Resolves with what code of the runs was refused after they had ended. */
  close(): Promise<readonly string[]>;
}

export function openJudge(options: ProcessOptions): Judge {
  let current: { readonly process: ClosedProcess; executed: number } | undefined;
  const late: string[] = [];

  async function discard(): Promise<void> {
    if (current === undefined) return;
    const { process } = current;
    current = undefined;
    late.push(...(await process.end()));
  }

  return {
    async judge(history, run, given, expected) {
      const data = await readExpected(history, run, expected);
      for (;;) {
        current ??= { process: startClosed(options), executed: 0 };
        const { process, executed } = current;
        const found = await process.execute(data, { ...given, live: options.live });
        const isExecuted = typeof found === 'string' || found.comparison !== undefined;
        if (isExecuted) current.executed += 1;
        if (typeof found === 'string' || (isExecuted && found.verdict !== 'equal')) {
          await discard();
          if (executed > 0) continue;
        }
        const { closedBy } = process;
        if (typeof found !== 'string') return { ...found, closedBy };
        const { threadId, runId, graphId } = data.run;
        const exchanges = data.parts.filter(({ kind }) => kind === 'exchange').length;
        return { threadId, runId, graphId, exchanges, verdict: 'untried', reasons: [found], closedBy };
      }
    },
    async close() {
      await discard();
      return late;
    },
  };
}

export interface HereOptions {
  readonly graphs: readonly GraphSpec[];
  /** Variables that override those of recordings. */
  readonly env: Readonly<Record<string, string>>;
  readonly live: boolean;
  readonly breakOn: NonNullable<Pauses['breakOn']>;
}

/** Executes runs in this process, which a debugger may be attached to. */
export function openJudgeHere({ graphs, env, live, breakOn }: HereOptions): Judge {
  const sandbox = openSandbox(graphs, env);
  const closedBy = live ? [] : ['patches'];
  return {
    async judge(history, run, given, expected) {
      const data = await readExpected(history, run, expected);
      // An addon of its own: code of the run may load none.
      await loadCompiler();
      return {
        ...(await reexecute(data, sandbox, { ...given, live, pauses: { ...given.pauses, breakOn } })),
        closedBy,
      };
    },
    close: async () => [],
  };
}

async function readExpected(
  history: History,
  { threadId, runId }: RunRef,
  expected?: RunTrace,
): Promise<RunData> {
  const data = await readRunData(history, threadId, runId);
  return expected === undefined ? data : { ...data, trace: expected, isExpected: true };
}

/** `late`: what code was refused after its run. It would have reached outside, so the run is not equal. */
export const withLate = (result: Reexecution, late: readonly string[]): Reexecution =>
  late.length === 0
    ? result
    : {
        ...result,
        reasons: [...new Set([...result.reasons, ...late])],
        verdict: result.verdict === 'equal' ? 'untried' : result.verdict,
      };
