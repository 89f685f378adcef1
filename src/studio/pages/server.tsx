/** The server: its workers and queue, what did not load, webhooks and crons. */
import { useEffect, useState } from 'preact/hooks';
import {
  assistants,
  crons,
  info,
  metrics,
  redeliver,
  setCron,
  webhooks,
  type Metrics,
} from '../api/server.ts';
import type { Cron, Webhook } from '../api/types.ts';
import { now } from '../model/list.ts';
import { act, busy } from '../model/notices.ts';
import { poll } from '../model/poll.ts';
import { hrefOf } from '../model/route.ts';
import { verdicts } from '../model/verdicts.ts';
import { age, clock, clip, shortId } from '../model/words.ts';
import { useLoaded } from '../parts/load.tsx';
import { Status } from '../parts/status.tsx';
import { differenceText } from '../parts/verdict.tsx';

export function ServerPage() {
  const about = useLoaded('info', info);
  const figures = useFresh<Metrics>(metrics);
  return (
    <main class="server-page">
      <header class="head">
        <h1>Server</h1>
        {about.value !== undefined && <span class="quiet">version {about.value.version}</span>}
      </header>
      {figures.value !== undefined && <Figures figures={figures.value} />}
      <Graphs />
      <Verdicts />
      <Webhooks />
      <Crons />
    </main>
  );
}

function useFresh<T>(read: () => Promise<T>): { readonly value: T | undefined; reload(): Promise<void> } {
  const [value, setValue] = useState<T>();
  const reload = async (): Promise<void> => setValue(await read());
  useEffect(() => poll(reload), []);
  return { value, reload };
}

function Figures({ figures }: { readonly figures: Metrics }) {
  return (
    <dl class="figures">
      <div>
        <dt>workers</dt>
        <dd>
          {figures.workers.active} of {figures.workers.max} busy
        </dd>
      </div>
      {Object.entries(figures.queue).map(([name, value]) => (
        <div key={name}>
          <dt>{name.replaceAll('_', ' ')}</dt>
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  );
}

function Graphs() {
  const { value } = useLoaded('assistants', assistants);
  if (value === undefined) return null;
  return (
    <section>
      <h2>Assistants</h2>
      <table>
        <tbody>
          {value.map(({ assistant_id: id, name, graph_id: graph, version }) => (
            <tr key={id}>
              <td>{name}</td>
              <td>{graph}</td>
              <td class="quiet">version {version}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Verdicts() {
  if (verdicts.value.length === 0) return null;
  return (
    <section>
      <h2>Saves against earlier runs</h2>
      <table>
        <tbody>
          {verdicts.value.slice(0, 20).map((each) => (
            <tr key={`${each.run_id} ${each.at}`}>
              <td>{each.at !== undefined && clock(each.at)}</td>
              <td>
                <a href={hrefOf('/compare', { thread: each.thread_id, run: each.run_id })}>{each.graph_id}</a>
              </td>
              <td>
                <Status status={each.verdict} />
              </td>
              <td class="quiet">{differenceText(each)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Webhooks() {
  const { value, reload } = useFresh<readonly Webhook[]>(webhooks);
  if (value === undefined) return null;
  return (
    <section>
      <h2>Webhooks</h2>
      {value.length === 0 && <p class="calm">No run asked for a webhook.</p>}
      {value.length > 0 && (
        <table>
          <tbody>
            {value.map(
              ({ webhook_id: id, url, state, attempts, thread_id: threadId, created_at: created }) => (
                <tr key={id}>
                  <td>
                    <Status status={state} />
                  </td>
                  <td class="clip">{url}</td>
                  <td class="quiet">{lastAttempt(attempts)}</td>
                  <td>
                    <a href={hrefOf(`/threads/${threadId}`)}>thread</a>
                  </td>
                  <td class="quiet">{age(created, now.value)}</td>
                  <td class="number">
                    <button
                      type="button"
                      aria-label={`Redeliver ${shortId(id)}`}
                      disabled={busy.value.has(id)}
                      onClick={() => void act(id, () => redeliver(id).then(reload))}
                    >
                      Redeliver
                    </button>
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      )}
    </section>
  );
}

function lastAttempt(attempts: Webhook['attempts']): string {
  const last = attempts.at(-1);
  if (last === undefined) return 'not tried yet';
  return `attempt ${attempts.length}: ${clip(String(last.status ?? last.error ?? 'no reply'), 60)}`;
}

function Crons() {
  const { value, reload } = useFresh<readonly Cron[]>(crons);
  if (value === undefined) return null;
  return (
    <section>
      <h2>Crons</h2>
      {value.length === 0 && <p class="calm">No crons.</p>}
      {value.length > 0 && (
        <table>
          <tbody>
            {value.map((cron) => (
              <CronRow key={cron.cron_id} cron={cron} onChange={reload} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function CronRow({ cron, onChange }: { readonly cron: Cron; onChange(): Promise<void> }) {
  const {
    cron_id: id,
    schedule,
    timezone,
    enabled,
    next_run_date: next,
    thread_id: threadId,
    refused,
  } = cron;
  return (
    <tr>
      <td>
        <code>{schedule}</code> <span class="quiet">{timezone}</span>
      </td>
      <td>
        {enabled
          ? next === null
            ? 'no further run'
            : `next ${next.slice(0, 16).replace('T', ' ')}`
          : 'paused'}
      </td>
      <td class="quiet">{refused?.reason}</td>
      <td>{threadId !== null && <a href={hrefOf(`/threads/${threadId}`)}>thread</a>}</td>
      <td class="number">
        <button
          type="button"
          aria-label={`${enabled ? 'Pause' : 'Resume'} cron ${shortId(id)}`}
          disabled={busy.value.has(id)}
          onClick={() => void act(id, () => setCron(id, !enabled).then(onChange))}
        >
          {enabled ? 'Pause' : 'Resume'}
        </button>
      </td>
    </tr>
  );
}
