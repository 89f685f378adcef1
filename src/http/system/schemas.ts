import { z } from 'zod';
import { parseFlag } from '../query.ts';
import { oneOf, optional, withDefault } from '../fields.ts';

/** Health checks of load balancers never get a 422: every other text than one for "no" asks for the check. */
const asked = z
  .string()
  .optional()
  .transform((text = 'false') => parseFlag(text) ?? true)
  .meta({ type: 'boolean', default: false });

export const okQuery = z.object({ check_db: asked });

export const metricsQuery = z.object({ format: withDefault(oneOf(['prometheus', 'json']), 'prometheus') });

const flag = optional(z.boolean('expected true or false'));

/** Runs and checkpoints are deleted only with their threads, so `runs` and `checkpointer` require `threads`. */
export const truncate = z
  .object(
    { runs: flag, checkpointer: flag, threads: flag, assistants: flag, store: flag },
    'expected an object',
  )
  .refine(
    ({ runs, checkpointer, threads }) => threads === true || (runs !== true && checkpointer !== true),
    'runs and checkpointer go with threads: expected threads to be true as well',
  );
