/** Two runs side by side, or a run and its re-execution: where they part, and what differs. */
import type { ComparedRun, ComparedStep, Json, RunDiff, StateDifference } from '../api/types.ts';
import { diffRuns, replayRun, type Report } from '../api/runs.ts';
import { act, busy } from '../model/notices.ts';
import { keepReport, reportFor } from '../model/reports.ts';
import { go, hrefOf, query } from '../model/route.ts';
import { verdicts } from '../model/verdicts.ts';
import { count, duration, plural, shortId } from '../model/words.ts';
import { useLoaded } from '../parts/load.tsx';
import { Status } from '../parts/status.tsx';
import { Tree } from '../parts/tree.tsx';
import { differenceText, VerdictList } from '../parts/verdict.tsx';

export function ComparePage() {
  const [a, b, run, thread] = [query('a'), query('b'), query('run'), query('thread')];
  return (
    <main class="compare-page">
      <header class="head">
        <h1>Compare</h1>
        {thread !== undefined && <a href={hrefOf(`/threads/${thread}`)}>back to the thread</a>}
      </header>
      {run !== undefined && thread !== undefined ? (
        <Reexecuted key={run} threadId={thread} runId={run} />
      ) : a !== undefined && b !== undefined ? (
        <TwoRuns key={`${a} ${b}`} a={a} b={b} />
      ) : (
        <>
          <Choose />
          <VerdictList />
        </>
      )}
    </main>
  );
}

function Choose() {
  return (
    <form
      class="form narrow"
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        go(hrefOf('/compare', { a: String(form.get('a')).trim(), b: String(form.get('b')).trim() }));
      }}
    >
      <label class="field">
        <span>First run</span>
        <input name="a" required placeholder="run id" />
      </label>
      <label class="field">
        <span>Second run</span>
        <input name="b" required placeholder="run id" />
      </label>
      <div class="buttons">
        <button type="submit" class="main">
          Compare
        </button>
      </div>
    </form>
  );
}

function TwoRuns({ a, b }: { readonly a: string; readonly b: string }) {
  const { value, problem } = useLoaded(`${a} ${b}`, () => diffRuns(a, b));
  if (problem !== undefined) return <p class="calm">{problem}</p>;
  if (value === undefined) return <p class="calm">Comparing …</p>;
  return <DiffView diff={value} />;
}

function DiffView({ diff }: { readonly diff: RunDiff }) {
  const { first, steps, state } = diff;
  return (
    <>
      <p class="verdict-line">
        <Status status={diff.equal ? 'equal' : 'different'} />
        {first !== null && (
          <span>
            first difference:{' '}
            {first.difference === null ? first.what : first.difference.path || first.difference.channel}
          </span>
        )}
      </p>
      <table class="sides">
        <thead>
          <tr>
            <th>
              <RunHead name="a" run={diff.a} />
            </th>
            <th>
              <RunHead name="b" run={diff.b} />
            </th>
          </tr>
        </thead>
        <tbody>
          {steps.map((pair, at) => (
            <tr key={at} class={first?.index === at ? 'first' : ''}>
              <td>
                <StepText step={pair.a} />
              </td>
              <td>
                <StepText step={pair.b} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {first?.difference != null && <Differences title="First difference" all={[first.difference]} />}
      {state.length > 0 && <Differences title="State at the end" all={state} />}
    </>
  );
}

function RunHead({ name, run }: { readonly name: string; readonly run: ComparedRun }) {
  return (
    <span class="run-head">
      <b>{name}</b> <a href={hrefOf(`/threads/${run.thread_id}`)}>{shortId(run.run_id)}</a> {run.graph_id}
      <Status status={run.status} />
      <span class="quiet">
        {plural(run.steps, 'step')}
        {run.took_ms !== null && ` · ${duration(run.took_ms)}`}
        {run.tokens !== null && ` · ${count(run.tokens.total)} tok`}
      </span>
    </span>
  );
}

function StepText({ step }: { readonly step: ComparedStep | null }) {
  if (step === null) return <span class="quiet">–</span>;
  const nodes = step.nodes.filter((node) => node !== '__start__');
  const name = nodes.length > 0 ? nodes.join(', ') : step.nodes.length > 0 ? 'start' : step.source;
  return (
    <>
      <span class="v">{step.step}</span> {name}
      {step.took_ms !== null && <span class="quiet"> {duration(step.took_ms)}</span>}
    </>
  );
}

function Differences({ title, all }: { readonly title: string; readonly all: readonly StateDifference[] }) {
  return (
    <section>
      <h2>{title}</h2>
      {all.map((each) => (
        <Sides key={`${each.channel} ${each.path}`} name={each.path || each.channel} a={each.a} b={each.b} />
      ))}
    </section>
  );
}

interface SidesProps {
  readonly name: string;
  readonly a: Json | undefined;
  readonly b: Json | undefined;
}

function Sides({ name, a, b }: SidesProps) {
  const side = (value: Json | undefined) =>
    value === undefined ? <span class="quiet">nothing</span> : <Tree value={value} open={1} />;
  return (
    <div class="two">
      <div class="key">{name}</div>
      <div class="before">{side(a)}</div>
      <div class="after">{side(b)}</div>
    </div>
  );
}

interface ReexecutedProps {
  readonly threadId: string;
  readonly runId: string;
}

function Reexecuted({ threadId, runId }: ReexecutedProps) {
  const report = reportFor(runId) ?? verdicts.value.find(({ run_id: id }) => id === runId);
  const again = () => act('again', async () => keepReport(runId, await replayRun(threadId, runId)));
  return (
    <>
      <p class="verdict-line">
        run {shortId(runId)} and its re-execution
        {report !== undefined && <Status status={report.verdict} />}
        <button type="button" disabled={busy.value.has('again')} onClick={() => void again()}>
          {busy.value.has('again')
            ? 'Executing …'
            : report === undefined
              ? 'Execute it again, offline'
              : 'Again'}
        </button>
      </p>
      {report !== undefined && <ReportView report={report} />}
    </>
  );
}

function ReportView({ report }: { readonly report: Report }) {
  const { comparison, reasons = [], request, exchanges, closedBy = [] } = report;
  const found = comparison?.divergence;
  return (
    <div class="report">
      {comparison !== undefined && (
        <p class="quiet">
          compared {plural(comparison.checkpoints, 'checkpoint')}, {plural(comparison.writes, 'write')}
          {comparison.frames !== undefined && `, ${plural(comparison.frames, 'frame')}`}
          {exchanges !== undefined && `; ${plural(exchanges, 'recorded call')} served`}
          {closedBy.length > 0 && `; closed by ${closedBy.join(', ')}`}
        </p>
      )}
      {report.verdict === 'equal' && <p>The code does again what the log says.</p>}
      {reasons.map((reason) => (
        <p key={reason}>{reason}</p>
      ))}
      {found !== undefined && (
        <section>
          <h2>First difference: {differenceText(report)}</h2>
          <div class="two heads">
            <div />
            <div>recorded</div>
            <div>now</div>
          </div>
          <Sides name={found.path ?? found.channel ?? found.what} a={found.recorded} b={found.found} />
        </section>
      )}
      {request !== undefined && (
        <section>
          <h2>{differenceText(report)}</h2>
          <div class="two heads">
            <div />
            <div>recorded</div>
            <div>now</div>
          </div>
          <Sides
            name="request"
            a={request.recorded as unknown as Json}
            b={request.found as unknown as Json}
          />
        </section>
      )}
    </div>
  );
}
