/** The state of the server: queue, workers, what did not load, and the configuration as it was understood. */
import type { ComponentChildren } from 'preact';
import { serverState, type ServerState } from '../api/server.ts';
import { now } from '../model/list.ts';
import { age, bytes, duration, plural, shortId } from '../model/words.ts';
import { useFresh } from './load.tsx';

export function Operation() {
  const { value, problem } = useFresh(serverState);
  return (
    <>
      <header class="head">
        <h1>Server</h1>
        {value !== undefined && (
          <span class="quiet">
            version {value.version} · {value.development ? 'development · ' : ''}up{' '}
            {age(value.started_at, now.value)}
          </span>
        )}
      </header>
      {value !== undefined ? <State state={value} /> : problem !== undefined && <p class="calm">{problem}</p>}
    </>
  );
}

function State({ state }: { readonly state: ServerState }) {
  const { queue, log, workers, problems, warnings, settings, graphs } = state;
  return (
    <>
      <dl class="figures">
        <Figure name="running">
          {queue.running} of {queue.max_running}
        </Figure>
        <Figure name="waiting">{queue.pending}</Figure>
        <Figure name="longest wait">
          {queue.longest_wait_secs === null ? '–' : duration(queue.longest_wait_secs * 1_000)}
        </Figure>
        <Figure name="log">{bytes(log.bytes)}</Figure>
        <Figure name="graphs">{graphs.length}</Figure>
      </dl>
      {problems.length > 0 && (
        <section class="alarm">
          <h2>{plural(problems.length, 'graph')} did not load</h2>
          {problems.map(({ graph_id: id, reason }) => (
            <div key={id}>
              <b>{id}</b>
              <pre>{reason}</pre>
            </div>
          ))}
        </section>
      )}
      {warnings.length > 0 && (
        <section>
          <h2>Warnings of the start</h2>
          <ul class="lines">
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h2>Workers</h2>
        {workers.length === 0 && <p class="calm">Graphs run in the process of the server.</p>}
        {workers.length > 0 && <Workers workers={workers} />}
      </section>
      <details class="settings">
        <summary>Configuration as understood: {plural(settings.length, 'setting')}</summary>
        <table>
          <tbody>
            {settings.map(({ name, value }) => (
              <tr key={name}>
                <td>
                  <code>{name}</code>
                </td>
                <td>
                  <code>{JSON.stringify(value)}</code>
                </td>
              </tr>
            ))}
            <tr>
              <td>data</td>
              <td>
                <code>{log.place}</code>
              </td>
            </tr>
          </tbody>
        </table>
      </details>
    </>
  );
}

const Figure = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

function Workers({ workers }: Pick<ServerState, 'workers'>) {
  return (
    <table>
      <thead>
        <tr>
          <th>process</th>
          <th class="number">busy</th>
          <th class="number">memory</th>
          <th class="number">stalled</th>
          <th>runs</th>
        </tr>
      </thead>
      <tbody>
        {workers.map(({ pid, busy, memory_bytes: memory, stalled_ms: stalled, run_ids: runs }) => (
          <tr key={pid}>
            <td>{pid ?? 'not started'}</td>
            <td class="number">{busy === null ? '–' : `${Math.round(busy * 100)} %`}</td>
            <td class="number">{memory === null ? '–' : bytes(memory)}</td>
            <td class="number">{stalled === 0 ? '–' : duration(stalled)}</td>
            <td class="quiet">{runs.map(shortId).join(' ')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
