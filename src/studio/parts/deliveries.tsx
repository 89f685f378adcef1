/** Webhooks and crons, with what can be done with them. */
import { crons, redeliver, setCron, webhooks } from '../api/server.ts';
import type { Cron, Webhook } from '../api/types.ts';
import { now } from '../model/list.ts';
import { act, busy } from '../model/notices.ts';
import { hrefOf } from '../model/route.ts';
import { age, clip, shortId } from '../model/words.ts';
import { useFresh } from './load.tsx';
import { Status } from './status.tsx';

export function Webhooks() {
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

export function Crons() {
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
