/** Many lives, one after the other; the first that goes wrong is told with what repeats it. */
import { FAULTS, type Fault } from './faults.ts';
import { liveOnce, type Life } from './life.ts';

export interface Simulated {
  readonly lives: number;
  readonly steps: number;
  readonly faults: Readonly<Record<Fault, number>>;
  readonly failed: { readonly seed: number; readonly life: Life } | undefined;
}

export async function simulate(
  first: number,
  count: number,
  onLife: (seed: number, life: Life) => void = () => undefined,
  servers = 1,
): Promise<Simulated> {
  const faults = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<Fault, number>;
  let steps = 0;
  for (let lives = 0; lives < count; lives++) {
    const seed = (first + lives) >>> 0;
    const life = await liveOnce(seed, undefined, servers);
    onLife(seed, life);
    steps += life.steps;
    for (const [fault, times] of life.faults) faults[fault] += times;
    if (life.failure !== undefined) return { lives: lives + 1, steps, faults, failed: { seed, life } };
  }
  return { lives: count, steps, faults, failed: undefined };
}

/** What is printed of a life that went wrong: its end, why, and how to see it again. */
export function describeFailure({ seed, life }: NonNullable<Simulated['failed']>, lines = 60): string {
  return [
    ...life.trace.slice(-lines),
    JSON.stringify(life.choices),
    life.failure?.stack ?? '',
    ...(life.failure?.cause instanceof Error ? [life.failure.cause.stack ?? ''] : []),
    `SEED=${seed}; to see it again: npm run simulate -- 1 ${seed} ${life.servers}`,
  ].join('\n');
}
