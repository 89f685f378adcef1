/** A failure: where, with the lines of code, what went in, the state before, the last call, and what can be done now. */
import type { Fact } from '../api/facts.ts';
import { callsOf, type Calls } from '../api/calls.ts';
import { exchangesOf, reportOf } from '../api/moments.ts';
import { stateAt } from '../api/states.ts';
import type { Json } from '../api/types.ts';
import {
  editorHref,
  failureAt,
  frameIn,
  placeIn,
  tookOf,
  versionBefore,
  type SourcePosition,
} from '../model/failure.ts';
import { setQuery } from '../model/route.ts';
import { isFailure } from '../model/telling.ts';
import type { OpenThread } from '../model/thread.ts';
import { duration } from '../model/words.ts';
import { CallLine } from './call-line.tsx';
import { CodeFrame } from './code.tsx';
import { useLoaded } from './load.tsx';
import { Members } from './tree.tsx';

export function ErrorTab({ open }: { readonly open: OpenThread }) {
  const failure = failureAt(open);
  if (failure === undefined) return <NoFailure open={open} />;
  return <Failure key={failure.version} open={open} failure={failure} />;
}

function NoFailure({ open }: { readonly open: OpenThread }) {
  const { story, version } = open;
  const near = story.nearest(version.value, -1, isFailure) ?? story.nearest(version.value, 1, isFailure);
  return (
    <p class="calm">
      Nothing failed in this run.{' '}
      {near !== undefined && (
        <button type="button" class="more" onClick={() => open.select(near.version)}>
          A failure is at v {near.version}
        </button>
      )}
    </p>
  );
}

function Failure({ open, failure }: { readonly open: OpenThread; readonly failure: Fact }) {
  const { error, run_id: runId = '', attempt = 1 } = failure;
  const { node, step, channel, stack, remedy } = error ?? {};
  const report = useLoaded(runId, () => reportOf(open.id, runId));
  const calls = useLoaded(runId, () => callsOf(open.id, runId));
  const place = placeIn(stack);
  const frame = frameIn(report.value ?? '');
  const took = tookOf(open, failure);
  return (
    <div class="failure">
      <h2>
        <span class="mark" aria-hidden="true">
          ✕
        </span>
        {error?.error ?? 'Timeout'}: <span class="message">{error?.message}</span>
      </h2>
      <p class="where">
        {[
          ...(node === undefined ? [] : [`node ${node}`]),
          ...(channel === undefined ? [] : [`channel ${channel}`]),
          ...(step === undefined ? [] : [`step ${step}`]),
          `attempt ${attempt}`,
          ...(took === undefined ? [] : [`after ${duration(took)}`]),
        ].join(' · ')}
        {place !== undefined && <PlaceLink place={place} />}
      </p>
      {frame.length > 0 && <CodeFrame lines={frame} column={place?.column} />}
      {remedy !== undefined && <p class="remedy">{remedy}</p>}
      <div class="columns">
        <RunInput open={open} runId={runId} />
        <StateBefore open={open} failure={failure} />
        <LastCall open={open} failure={failure} calls={calls.value} />
      </div>
      <Printed open={open} failure={failure} calls={calls.value} />
      {stack !== undefined && (
        <details>
          <summary>stack</summary>
          <pre class="code" tabIndex={0} aria-label="Stack">
            {stack}
          </pre>
        </details>
      )}
    </div>
  );
}

function PlaceLink({ place }: { readonly place: SourcePosition }) {
  const name = place.file.split(/[\\/]/).at(-1)!;
  return (
    <a href={editorHref(place)} title={`Open ${place.file} in the editor`}>
      {name}:{place.line}:{place.column}
    </a>
  );
}

function RunInput({ open, runId }: { readonly open: OpenThread; readonly runId: string }) {
  const run = open.runs.value.find(({ run_id }) => run_id === runId);
  if (run === undefined) return null;
  const { input, command } = run.kwargs;
  return (
    <section>
      <h3>{command == null ? 'Input' : 'Command'}</h3>
      <Members value={(command ?? input ?? null) as Json} />
    </section>
  );
}

function StateBefore({ open, failure }: { readonly open: OpenThread; readonly failure: Fact }) {
  const before = versionBefore(failure);
  const { value, problem } = useLoaded(`${open.id} ${before}`, () => stateAt(open.id, before));
  return (
    <section>
      <h3>State before</h3>
      {problem !== undefined && <p class="calm">{problem}</p>}
      {value !== undefined && <Members value={value.values} />}
    </section>
  );
}

interface CallsProps {
  readonly open: OpenThread;
  readonly failure: Fact;
  readonly calls: Calls | undefined;
}

/** The last call before the failure, as sent and as answered where the run was recorded. */
function LastCall({ open, failure, calls }: CallsProps) {
  const runId = failure.run_id!;
  const { value: exchanges } = useLoaded(runId, () => exchangesOf(open.id, runId));
  const call = calls?.calls.at(-1);
  const exchange = exchanges?.at(-1);
  if (call === undefined && exchange === undefined) return null;
  return (
    <section>
      <h3>
        Last call
        <button type="button" class="more" onClick={() => setQuery({ tab: 'call' })}>
          as sent and answered
        </button>
      </h3>
      {call !== undefined && <CallLine call={call} />}
      {exchange !== undefined && (
        <p class="quiet clip">
          #{exchange.n} {exchange.request.method} {exchange.request.url}{' '}
          {exchange.answer?.status ?? exchange.failure?.name ?? 'no answer'}
        </p>
      )}
    </section>
  );
}

const SHOWN_PRINTS = 40;

function Printed({ failure, calls }: CallsProps) {
  const lines = (calls?.prints ?? []).filter(({ attempt }) => attempt === (failure.attempt ?? 1));
  if (lines.length === 0) return null;
  return (
    <section>
      <h3>Printed</h3>
      <pre class="code" tabIndex={0} aria-label="Printed lines">
        {lines
          .slice(-SHOWN_PRINTS)
          .map(({ text }) => text.trimEnd())
          .join('\n')}
      </pre>
    </section>
  );
}
