/** The slider over versions 1..n, with marks for failures, questions and crashes. */
import { useMemo } from 'preact/hooks';
import { isCrash, isFailure, isQuestion } from '../model/telling.ts';
import type { OpenThread } from '../model/thread.ts';

const MAX_MARKS = 400;

export function Slider({ open }: { readonly open: OpenThread }) {
  const { story, version, follows } = open;
  const length = story.length.value;
  const at = version.value;
  const marks = useMemo(() => marksOf(open), [story.arrivals.value]);
  if (length === 0) return null;
  const place = (each: number): string => `${length === 1 ? 50 : ((each - 1) / (length - 1)) * 100}%`;
  return (
    <div class="slider">
      <button
        type="button"
        aria-label="Earlier"
        title="Earlier (←)"
        disabled={at <= 1}
        onClick={() => open.select(at - 1)}
      >
        ◀
      </button>
      <div class="track">
        <input
          type="range"
          aria-label="Version"
          min={1}
          max={length}
          value={at}
          aria-valuetext={`version ${at} of ${length}`}
          onInput={(event) => open.select(Number(event.currentTarget.value))}
        />
        <div class="marks" aria-hidden="true">
          {marks.map(([each, tone]) => (
            <i key={each} class={tone} style={{ left: place(each) }} />
          ))}
        </div>
      </div>
      <button
        type="button"
        aria-label="Later"
        title="Later (→)"
        disabled={at >= length}
        onClick={() => open.select(at + 1)}
      >
        ▶
      </button>
      <span class="at">
        v {at} of {length}
      </span>
      <button
        type="button"
        class="follow"
        aria-pressed={follows.value}
        title="Show what matters now, and follow (0)"
        onClick={open.release}
      >
        now
      </button>
    </div>
  );
}

function marksOf({ story }: OpenThread): readonly (readonly [number, string])[] {
  const found: [number, string][] = [];
  for (const fact of story.loaded()) {
    const tone = isFailure(fact) ? 'bad' : isQuestion(fact) ? 'ask' : isCrash(fact) ? 'warn' : undefined;
    if (tone !== undefined) found.push([fact.version, tone]);
  }
  return found.sort(([a], [b]) => b - a).slice(0, MAX_MARKS);
}
