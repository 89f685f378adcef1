/** What a run used of models and time, and how much it may use. */

export interface Usage {
  /** Calls of models, over all attempts; an answer that a later attempt was given again counts once. */
  readonly calls: number;
  /** Tokens that the models reported. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Calls whose answers reported no tokens. */
  readonly unreported?: number;
  /** Milliseconds executed; only of runs with a limit of seconds. */
  readonly ms?: number;
}

/** Positive numbers. A run ends with the error `BudgetReached` after the step in which it reached one. */
export interface Budget {
  /** Input and output tokens together. */
  readonly tokens?: number;
  readonly calls?: number;
  /** Of execution, without the time in which the run waits in the queue. */
  readonly seconds?: number;
}

/** Members of a run's order. */
export interface Spending {
  readonly budget?: Budget;
  /** By earlier attempts, up to the checkpoint that this one continues from. */
  readonly used?: Usage;
}

export const BUDGET_LIMITS = ['tokens', 'calls', 'seconds'] as const satisfies readonly (keyof Budget)[];

export const BUDGET_REACHED = 'BudgetReached';

export const NOTHING_USED: Usage = { calls: 0, inputTokens: 0, outputTokens: 0 };

/** Describes the limit that is reached; undefined if none is. */
export function limitReached(usage: Usage, budget: Budget): string | undefined {
  const { calls, inputTokens, outputTokens, ms = 0 } = usage;
  const used = { tokens: inputTokens + outputTokens, calls, seconds: ms / 1000 };
  for (const name of BUDGET_LIMITS) {
    const limit = budget[name];
    if (limit !== undefined && used[name] >= limit)
      return `The run used ${shown(used[name])} of ${shown(limit)} ${name}`;
  }
  return undefined;
}

const shown = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });
