/** All threads, the runs that wait or run now, and a form to start a thread. */
import { useState } from 'preact/hooks';
import { cancelRun, openRuns, type OpenRun } from '../api/runs.ts';
import { assistants } from '../api/server.ts';
import { openDropped, startThread } from '../model/actions.ts';
import { isListLoaded, isFailedOnly, now, searchText, total } from '../model/list.ts';
import { act, busy } from '../model/notices.ts';
import { hrefOf } from '../model/route.ts';
import { count, duration, plural, shortId } from '../model/words.ts';
import { GraphInput, useInputSchema } from '../parts/conversation.tsx';
import { useFresh, useLoaded } from '../parts/load.tsx';
import { Status } from '../parts/status.tsx';
import { SearchBar, ThreadList } from '../parts/thread-list.tsx';

export function ThreadsPage() {
  const isEmpty = isListLoaded.value && total.value === 0 && searchText.value === '' && !isFailedOnly.value;
  const [isStarting, setStarting] = useState(false);
  return (
    <main class="threads-page">
      <header class="head">
        <h1>Threads</h1>
        {isListLoaded.value && <span class="quiet">{count(total.value)}</span>}
        {!isEmpty && (
          <button type="button" aria-pressed={isStarting} onClick={() => setStarting(!isStarting)}>
            New thread
          </button>
        )}
        <label class="open-file">
          Open a .rewound file
          <input
            type="file"
            class="hidden"
            accept=".rewound"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file !== undefined) void openDropped(file);
            }}
          />
        </label>
      </header>
      {(isEmpty || isStarting) && <StartForm />}
      <OpenRuns />
      {!isEmpty && <SearchBar />}
      <ThreadList current={undefined} />
    </main>
  );
}

function OpenRuns() {
  const { value: runs = [] } = useFresh(openRuns);
  if (runs.length === 0) return null;
  return (
    <section class="open-runs" aria-label="Runs that wait or run">
      <h2>{plural(runs.length, 'open run')}</h2>
      <table>
        <thead>
          <tr>
            <th>thread</th>
            <th>graph</th>
            <th>status</th>
            <th class="number">queued</th>
            <th class="number">running</th>
            <th class="number">attempt</th>
            <th class="number">worker</th>
            <th>
              <span class="hidden">actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <OpenRunRow key={run.run_id} run={run} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function OpenRunRow({ run }: { readonly run: OpenRun }) {
  const { run_id: id, thread_id: threadId, graph_id: graph, title, status, attempt, worker } = run;
  const { started_at: started, queued_ms: queued } = run;
  return (
    <tr>
      <td class="clip">
        <a href={hrefOf(`/threads/${threadId}`)}>{title ?? shortId(threadId)}</a>
      </td>
      <td>{graph}</td>
      <td>
        <Status status={status} />
      </td>
      <td class="number">{duration(queued)}</td>
      <td class="number">{started === null ? '' : duration(Math.max(0, now.value - Date.parse(started)))}</td>
      <td class="number">{attempt === 0 ? '' : attempt}</td>
      <td class="number">{worker}</td>
      <td class="number">
        <button
          type="button"
          aria-label={`Cancel run ${shortId(id)}`}
          disabled={busy.value.has(`cancel ${id}`)}
          onClick={() => void act(`cancel ${id}`, () => cancelRun(run))}
        >
          Cancel
        </button>
      </td>
    </tr>
  );
}

function StartForm() {
  const { value: graphs, problem } = useLoaded('assistants', assistants);
  const [chosen, setChosen] = useState<string>();
  const assistant = chosen ?? graphs?.[0]?.assistant_id;
  const schema = useInputSchema(assistant);
  if (problem !== undefined) return <p class="calm">{problem}</p>;
  if (graphs === undefined) return null;
  if (graphs.length === 0)
    return <p class="calm">This server serves no graphs: name one in platform.json.</p>;
  return (
    <section class="start" aria-label="Start a thread">
      <label class="field">
        <span>Graph</span>
        <select value={assistant} onChange={(event) => setChosen(event.currentTarget.value)}>
          {graphs.map(({ assistant_id: id, name, graph_id: graph }) => (
            <option key={id} value={id}>
              {name === graph ? name : `${name} (${graph})`}
            </option>
          ))}
        </select>
      </label>
      {schema === undefined && <p class="calm">Reading the input of the graph …</p>}
      {assistant !== undefined && schema !== undefined && (
        <GraphInput
          key={assistant}
          schema={schema}
          name="start"
          action="Start"
          onSend={(input) => startThread(assistant, input)}
        />
      )}
    </section>
  );
}
