/** The calls of the step that is looked at: as sent and as answered where the run was recorded. */
import { useState } from 'preact/hooks';
import { callsOf } from '../api/calls.ts';
import { exchangeOf, exchangesOf, type Exchange, type RecordedBody } from '../api/moments.ts';
import { runAgain } from '../model/actions.ts';
import { busy } from '../model/notices.ts';
import type { OpenThread } from '../model/thread.ts';
import { bytes, clip, duration } from '../model/words.ts';
import { CallLine } from './call-line.tsx';
import { CodeBlock } from './code.tsx';
import { useLoaded } from './load.tsx';

export function CallTab({ open }: { readonly open: OpenThread }) {
  void open.story.arrivals.value;
  const fact = open.story.at(open.version.value);
  const runId = fact?.run_id;
  const isEnded = open.runs.value.find(({ run_id }) => run_id === runId)?.updated_at ?? '';
  const key = runId && `${runId} ${isEnded}`;
  const calls = useLoaded(key, () => callsOf(open.id, runId!));
  const exchanges = useLoaded(key, () => exchangesOf(open.id, runId!));
  if (fact === undefined || runId === undefined) return <p class="calm">No run belongs to this version.</p>;
  const step = fact.type === 'CheckpointSaved' ? fact.step : undefined;
  const isOfStep = (each: { readonly step: number | null }): boolean =>
    step === undefined || each.step === step;
  const seen = calls.value?.calls ?? [];
  const ofStep = seen.filter(isOfStep);
  const recorded = exchanges.value ?? [];
  const shown = recorded.filter(isOfStep);
  const isKnown = calls.value !== undefined || calls.problem !== undefined;
  return (
    <div class="calls">
      {(ofStep.length > 0 ? ofStep : seen).map((call, at) => (
        <CallLine key={at} call={call} />
      ))}
      {isKnown && seen.length === 0 && recorded.length === 0 && (
        <p class="calm">This run made no model or tool calls.</p>
      )}
      {(shown.length > 0 ? shown : recorded).map((exchange) => (
        <ExchangeView key={exchange.n} open={open} runId={runId} exchange={exchange} />
      ))}
      {exchanges.value?.length === 0 && seen.length > 0 && <RecordingOff />}
      {exchanges.problem !== undefined && <p class="calm">{exchanges.problem}</p>}
    </div>
  );
}

function RecordingOff() {
  return (
    <div class="hint">
      <p>This run was not recorded, so the requests and answers behind its calls are not kept.</p>
      <p>
        Turn recording on in <code>platform.json</code> with <code>"recording": true</code>, by{' '}
        <code>PLATFORM_RECORDING=true</code>, or for one run with{' '}
        <code>config: {'{ "recording": true }'}</code>. <code>rewound dev</code> records every run.
      </p>
    </div>
  );
}

interface ExchangeProps {
  readonly open: OpenThread;
  readonly runId: string;
  readonly exchange: Exchange;
}

function ExchangeView({ open, runId, exchange }: ExchangeProps) {
  const { n, node, request, answer, failure } = exchange;
  const isBad = failure !== null || (answer !== null && answer.status >= 400);
  const outcome = failure?.name ?? (answer === null ? 'no answer' : String(answer.status));
  return (
    <details class="exchange" open>
      <summary>
        <b>#{n}</b> {request.method} <span class="clip">{request.url}</span>
        <span class={`tag ${isBad ? 'bad' : 'good'}`}>{outcome}</span>
        <span class="numbers">
          {node} {answer !== null && `· ${duration(answer.took_ms)}`}
        </span>
      </summary>
      <Body title="Sent" body={request.body} open={open} runId={runId} n={n} part="request" />
      {answer !== null && (
        <Body title="Answered" body={answer.body} open={open} runId={runId} n={n} part="answer" />
      )}
      {failure !== null && <p class="problem">{failure.message}</p>}
      {answer?.body.text != null && <WhatIf open={open} runId={runId} n={n} text={answer.body.text} />}
    </details>
  );
}

interface BodyProps {
  readonly title: string;
  readonly body: RecordedBody | null;
  readonly open: OpenThread;
  readonly runId: string;
  readonly n: number;
  readonly part: 'request' | 'answer';
}

function Body({ title, body, open, runId, n, part }: BodyProps) {
  const [whole, setWhole] = useState<RecordedBody | null>(null);
  const shown = whole ?? body;
  if (shown === null) return null;
  const readWhole = async (): Promise<void> => {
    const found = await exchangeOf(open.id, runId, n);
    setWhole(part === 'request' ? found.request.body : (found.answer?.body ?? null));
  };
  return (
    <div class="body">
      <h4>
        {title} {shown.size !== null && <span class="quiet">{bytes(shown.size)}</span>}
      </h4>
      {shown.text === null ? (
        <button type="button" class="more" onClick={() => void readWhole()}>
          Show all of it
        </button>
      ) : shown.encoding === 'base64' ? (
        <p class="quiet">{clip(shown.text, 80)} (binary)</p>
      ) : (
        <CodeBlock text={pretty(shown.text)} label={title} />
      )}
    </div>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Streams and texts are shown as they came.
    return text;
  }
}

/** Executes the run again, offline, with another answer to this call. */
function WhatIf({
  open,
  runId,
  n,
  text,
}: Omit<ExchangeProps, 'exchange'> & { readonly n: number; readonly text: string }) {
  const [isOpen, setOpen] = useState(false);
  const [said, setSaid] = useState(() => pretty(text));
  if (!isOpen)
    return (
      <button type="button" onClick={() => setOpen(true)}>
        What if it had said …
      </button>
    );
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void runAgain(open, runId, { answers: { [n]: said } });
      }}
    >
      <label class="field">
        <span>Answer of call #{n}</span>
        <textarea
          class="mono"
          rows={8}
          value={said}
          onInput={(event) => setSaid(event.currentTarget.value)}
        />
      </label>
      <div class="buttons">
        <button type="submit" class="main" disabled={busy.value.has('again')}>
          Run again with this answer
        </button>
        <button type="button" onClick={() => setOpen(false)}>
          Cancel
        </button>
      </div>
    </form>
  );
}
