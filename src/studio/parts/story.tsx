/** The story of a thread: one row a fact, grouped by run, with bars over time and idle gaps cut. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { timeOf, type Fact } from '../api/facts.ts';
import { now } from '../model/list.ts';
import { branchesIn, runSums, type RunSum } from '../model/runs.ts';
import { isQuiet, tell, tokensText } from '../model/telling.ts';
import type { OpenThread } from '../model/thread.ts';
import { duration, plural } from '../model/words.ts';
import { Status } from './status.tsx';
import { VirtualList, type ListHandle } from './virtual.tsx';

const ROW_PX = 26;
const RUN_PX = 34;
const GAP_PX = 20;
/** Shorter pauses are part of the work. */
const MIN_GAP_MS = 5_000;

export function StoryList({ open }: { readonly open: OpenThread }) {
  const { story, version, runs } = open;
  void story.arrivals.value;
  const length = story.length.value;
  const selected = version.value;
  const handle = useRef<ListHandle>(null);
  const branches = useMemo(() => branchesIn(story), [story.arrivals.value]);
  const sums = useMemo(() => runSums(story, runs.value), [story.arrivals.value, runs.value]);
  useEffect(() => {
    if (selected > 0) handle.current?.show(selected - 1);
  }, [selected, length]);
  const heightOf = (index: number): number => {
    const fact = story.at(index + 1);
    return (fact?.type === 'RunCreated' ? RUN_PX : ROW_PX) + (gapBefore(open, fact) > 0 ? GAP_PX : 0);
  };
  return (
    <VirtualList
      class="story"
      label="Story"
      count={length}
      heightOf={heightOf}
      measured={story.arrivals.value}
      handle={handle}
      onRange={(from, to) => void story.ensure(from + 1, to + 1)}
      row={(index, top) => {
        const fact = story.at(index + 1);
        return (
          <div key={index} role="listitem" class="row" style={{ transform: `translateY(${top}px)` }}>
            {fact === undefined ? (
              <div class="fact pending">
                <span class="v">{index + 1}</span>
              </div>
            ) : (
              <Row
                open={open}
                fact={fact}
                isSelected={selected === fact.version}
                sum={sums.get(fact.run_id ?? '')}
                branch={branches.get(fact.version)}
              />
            )}
          </div>
        );
      }}
    />
  );
}

function gapBefore({ story }: OpenThread, fact: Fact | undefined): number {
  const before = fact && story.at(fact.version - 1);
  // Time in which a run works is a bar, not a gap.
  if (before === undefined || fact === undefined || fact.type === 'CheckpointSaved') return 0;
  const idle = timeOf(fact) - timeOf(before);
  const isIdle =
    fact.type === 'RunCreated' ||
    fact.type === 'StateUpdated' ||
    fact.type.startsWith('Thread') ||
    fact.type === 'RunStarted';
  return isIdle && idle > MIN_GAP_MS ? idle : 0;
}

interface RowProps {
  readonly open: OpenThread;
  readonly fact: Fact;
  readonly isSelected: boolean;
  readonly sum: RunSum | undefined;
  /** Version of the step that this one continues, where it is not the step before. */
  readonly branch: number | undefined;
}

function Row({ open, fact, isSelected, sum, branch }: RowProps) {
  const gap = gapBefore(open, fact);
  const { label, detail, tone } = tell(fact);
  const select = (): void => open.select(fact.version);
  const state = isSelected ? ({ 'aria-current': 'true' } as const) : {};
  return (
    <>
      {gap > 0 && <div class="gap">{duration(gap)} idle</div>}
      {fact.type === 'RunCreated' && sum !== undefined ? (
        <button type="button" class="fact run" onClick={select} {...state}>
          <span class="v">{fact.version}</span>
          <b>run {sum.ordinal}</b>
          <span class="detail">{detail}</span>
          <Status status={sum.status} />
          <span class="sum">{sumText(sum)}</span>
        </button>
      ) : (
        <button
          type="button"
          class={`fact ${tone} ${isQuiet(fact) ? 'quiet' : ''} ${fact.type === 'CheckpointSaved' ? 'step' : ''}`}
          onClick={select}
          {...state}
        >
          <span class="v">{fact.version}</span>
          <span class="mark" aria-hidden="true">
            {MARKS[tone] ?? ''}
          </span>
          <span class="label">
            {label}
            {branch !== undefined && <span class="branch"> ⑂ v {branch}</span>}
          </span>
          {sum !== undefined && fact.type === 'CheckpointSaved' ? (
            <Bar fact={fact} sum={sum} before={open.story.at(fact.version - 1)} />
          ) : (
            <span class="detail">{detail}</span>
          )}
        </button>
      )}
    </>
  );
}

const MARKS: Readonly<Record<string, string>> = { bad: '✕', ask: '?', warn: '!', good: '✓' };

const sumText = (sum: RunSum): string =>
  [
    ...(sum.steps === undefined ? [] : [plural(sum.steps, 'step')]),
    duration((sum.endedAt ?? Math.max(now.value, sum.startedAt)) - sum.startedAt),
    ...(sum.usage === undefined ? [] : [tokensText({ usage: sum.usage })]),
  ].join(' · ');

/** A step on the time axis of its run. */
function Bar({
  fact,
  sum,
  before,
}: {
  readonly fact: Fact;
  readonly sum: RunSum;
  readonly before: Fact | undefined;
}) {
  const at = timeOf(fact);
  const from = before !== undefined && before.run_id === fact.run_id ? timeOf(before) : at;
  const whole = Math.max(1, (sum.endedAt ?? sum.lastAt) - sum.startedAt);
  const left = Math.min(98, Math.max(0, ((from - sum.startedAt) / whole) * 100));
  const width = Math.min(100 - left, Math.max(1.5, ((at - from) / whole) * 100));
  return (
    <>
      <span class="bar" aria-hidden="true">
        <i style={{ left: `${left}%`, width: `${width}%` }} />
      </span>
      <span class="took">{at - from < 1 ? '' : duration(at - from)}</span>
    </>
  );
}
