/** Headings of runs, derived from the list of runs and from the loaded facts. */
import { timeOf, type Fact } from '../api/facts.ts';
import type { Run, RunStatus, Usage } from '../api/types.ts';
import type { Story } from './story.ts';
import { isRootStep, questionsIn } from './telling.ts';

export interface RunSum {
  readonly ordinal: number;
  readonly status: RunStatus | 'asks';
  readonly startedAt: number;
  /** Undefined while the run is open. */
  readonly endedAt: number | undefined;
  readonly lastAt: number;
  /** Undefined when only a part of the run's facts is loaded. */
  readonly steps: number | undefined;
  readonly usage: Usage | undefined;
}

interface Seen {
  created?: Fact;
  started?: Fact;
  ended?: Fact;
  last: Fact;
  steps: number;
}

export function runSums(story: Story, runs: readonly Run[]): ReadonlyMap<string, RunSum> {
  const seen = new Map<string, Seen>();
  for (const fact of [...story.loaded()]) {
    if (fact.run_id === undefined) continue;
    const of: Seen = seen.get(fact.run_id) ?? { last: fact, steps: 0 };
    seen.set(fact.run_id, of);
    if (fact.version > of.last.version) of.last = fact;
    if (fact.type === 'RunCreated') of.created = fact;
    if (fact.type === 'RunStarted' && (of.started === undefined || fact.version < of.started.version))
      of.started = fact;
    if (fact.type === 'RunCompleted') of.ended = fact;
    if (fact.type === 'CheckpointSaved' && fact.source === 'loop' && fact.checkpoint_ns === '') of.steps += 1;
  }
  // The list is newest first.
  const ordinals = new Map(runs.map(({ run_id }, at) => [run_id, runs.length - at]));
  const records = new Map(runs.map((run) => [run.run_id, run]));
  let unlisted = 0;
  return new Map(
    [...seen].map(([runId, { created, started, ended, last, steps }]) => {
      const record = records.get(runId);
      const usage = ended?.usage ?? record?.usage;
      const startedAt = timeOf(started ?? created ?? last);
      const isWhole = created !== undefined && (ended !== undefined || last.version === story.length.value);
      return [
        runId,
        {
          ordinal: ordinals.get(runId) ?? (unlisted += 1),
          status: statusOf(ended, record),
          startedAt,
          endedAt: ended && timeOf(ended),
          lastAt: timeOf(last),
          steps: isWhole ? steps : undefined,
          usage,
        },
      ];
    }),
  );
}

function statusOf(ended: Fact | undefined, record: Run | undefined): RunSum['status'] {
  if (ended === undefined) return record?.status ?? 'running';
  if (questionsIn(ended).length > 0) return 'asks';
  const { outcome } = ended;
  if (outcome === 'success' || outcome === 'error' || outcome === 'timeout') return outcome;
  return 'interrupted';
}

/** Steps of the root graph that continue another step than the one before, with the version of that one. */
export function branchesIn(story: Story): ReadonlyMap<number, number> {
  const steps = [...story.loaded()].filter(isRootStep).sort((a, b) => a.version - b.version);
  const saved = new Map<string, number>();
  const found = new Map<number, number>();
  let before: string | undefined;
  for (const { version, checkpoint_id: id, parent_checkpoint_id: parent } of steps) {
    const from = parent == null || parent === before ? undefined : saved.get(parent);
    if (from !== undefined) found.set(version, from);
    if (id == null) continue;
    saved.set(id, version);
    before = id;
  }
  return found;
}
