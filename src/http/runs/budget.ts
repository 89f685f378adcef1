/** Budgets of runs: of the limits that deployment, assistant and request set, the smallest counts. */
import { z } from 'zod';
import { BUDGET_LIMITS, type Budget } from '../../thread/usage.ts';
import { optional } from '../fields.ts';

const limit = optional(z.number('expected a positive number').positive('expected a positive number'));

export const budget = z
  .strictObject(
    { tokens: limit, calls: limit, seconds: limit },
    {
      error: ({ code }) =>
        code === 'unrecognized_keys' ? undefined : 'expected an object with tokens, calls or seconds',
    },
  )
  .meta({
    description:
      'Limits of tokens (input and output), calls of models and seconds of execution. The run ends with the error `BudgetReached` after the step in which it reached one. The smallest of request, assistant and deployment counts.',
  });

/** Undefined without any limit. Other values than positive numbers, which an auth handler may have put there, are none. */
export function smallestBudget(...given: readonly unknown[]): Budget | undefined {
  const limits = BUDGET_LIMITS.flatMap((name) => {
    const values = given.flatMap((each) => {
      const value =
        typeof each === 'object' && each !== null ? (each as Record<string, unknown>)[name] : undefined;
      return typeof value === 'number' && value > 0 ? [value] : [];
    });
    return values.length === 0 ? [] : [[name, Math.min(...values)]];
  });
  return limits.length === 0 ? undefined : Object.fromEntries(limits);
}
