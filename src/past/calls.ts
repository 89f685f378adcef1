/** Reads what a run printed, and its calls of models and tools. The log may come from a file that anybody made, so shapes are checked. */
import { z } from 'zod';
import type { CallRecord } from '../thread/call-record.ts';
import type { PayloadReader } from '../store/port/payloads.ts';

const count = z.int().min(0);
const noted = {
  attempt: z.int().min(1),
  at: count.max(8_640_000_000_000_000),
  ns: z.string(),
  node: z.string().optional(),
  step: z.int().optional(),
};
const call = z.object({
  ...noted,
  name: z.string(),
  model: z.string().optional(),
  ms: z.number().min(0),
  usage: z.object({ input: count, output: count }).optional(),
  error: z.string().optional(),
  served: z.literal(true).optional(),
});

const SCHEMA = z.discriminatedUnion('kind', [
  z.object({
    ...{ ...noted, kind: z.literal('print'), stream: z.enum(['stdout', 'stderr']), text: z.string() },
    cut: count.optional(),
  }),
  call.extend({ kind: z.literal('model') }),
  call.extend({ kind: z.literal('tool') }),
  z.object({ ...noted, kind: z.literal('cut'), prints: count, calls: count }),
]);

/** A record with its number within the run, from 1. */
export type NumberedCall = CallRecord & { readonly sequence: number };

export interface CallsPage {
  readonly calls: readonly NumberedCall[];
  /** Records follow. */
  readonly isMore: boolean;
}

/** Records with numbers above `after`, in order. What a step noted can be read when the step is in the log. */
export async function readCalls(
  { payloads }: { readonly payloads: Pick<PayloadReader, 'calls'> },
  runId: string,
  { after = 0, limit = Infinity }: { readonly after?: number; readonly limit?: number } = {},
): Promise<CallsPage> {
  const records: unknown[] = (await payloads.calls(runId)).flatMap((text) => JSON.parse(text) as unknown);
  const calls: NumberedCall[] = [];
  for (let at = after; at < records.length; at++) {
    const record = SCHEMA.safeParse(records[at]);
    if (!record.success) continue;
    if (calls.length === limit) return { calls, isMore: true };
    calls.push({ ...(record.data as CallRecord), sequence: at + 1 });
  }
  return { calls, isMore: false };
}
