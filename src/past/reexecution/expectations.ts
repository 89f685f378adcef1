/**
 * Expectations of runs of an exported file, in a file beside it: what a run is to do instead of what it did when it was
 * recorded. The exported file with its recordings stays as it is.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { readTextFile } from '../../kernel/text-file.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { RunTrace } from '../trace.ts';

const text = z.string();
const key = { ns: text, checkpointId: text };
const trace = z.object({
  checkpoints: z.array(
    z.looseObject({
      ...{ ...key, parentId: text.nullable(), metadata: z.looseObject({}), changed: z.array(text) },
      ...{ channels: z.record(text, text), framesBefore: z.int().optional() },
    }),
  ),
  writes: z.array(z.looseObject({ ...key, taskId: text, channel: text, data: text })),
  frames: z.array(z.object({ event: text, data: text })),
  outcome: z.looseObject({ kind: z.enum(['success', 'error', 'timeout', 'cancelled']) }).optional(),
});
const FILE = z.object({ format: z.literal(1), runs: z.record(text, trace) });

const pathOf = (file: string): string => `${file}.expected.json`;

/** Traces by run. */
export function readExpectations(file: string): Map<string, RunTrace> {
  const path = pathOf(file);
  if (!existsSync(path)) return new Map();
  try {
    const { runs } = FILE.parse(JSON.parse(readTextFile(path)));
    return new Map(Object.entries(runs).map(([runId, stored]) => [runId, toTrace(stored)]));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new Unavailable(`${path} is damaged: ${reason}`);
  }
}

/** Deletes the file when there are no expectations. */
export function writeExpectations(file: string, expected: ReadonlyMap<string, RunTrace>): void {
  const path = pathOf(file);
  if (expected.size === 0) return rmSync(path, { force: true });
  const runs = Object.fromEntries([...expected].map(([runId, each]) => [runId, toStored(each)]));
  writeFileSync(path, `${JSON.stringify({ format: 1, runs }, null, 2)}\n`);
}

const toStored = ({ checkpoints, ...rest }: RunTrace): object => ({
  checkpoints: checkpoints.map(({ channels, changed, ...each }) => ({
    ...{ ...each, channels: Object.fromEntries(channels), changed: [...changed] },
  })),
  ...rest,
});

const toTrace = ({ checkpoints, ...rest }: z.output<typeof trace>): RunTrace =>
  ({
    checkpoints: checkpoints.map(({ channels, changed, ...each }) => ({
      ...{ ...each, channels: new Map(Object.entries(channels)), changed: new Set(changed) },
    })),
    ...rest,
  }) as unknown as RunTrace;
