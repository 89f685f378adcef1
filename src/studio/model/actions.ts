/** Actions on the open thread. Each action ends where its effect can be seen. */
import { cancelRun, replayRun, startRun, type NewRun } from '../api/runs.ts';
import {
  copyThread,
  createThread,
  deleteThread,
  exportThread,
  openFile,
  updateState,
} from '../api/threads.ts';
import { reportOf } from '../api/moments.ts';
import type { Json, JsonObject, Run } from '../api/types.ts';
import { base } from '../api/http.ts';
import { act, say } from './notices.ts';
import { keepReport } from './reports.ts';
import { go, hrefOf } from './route.ts';
import type { OpenThread } from './thread.ts';
import { reload } from './list.ts';

/** The assistant of the thread's newest run. */
export const assistantOf = ({ runs }: OpenThread): string | undefined => runs.value[0]?.assistant_id;

export const openRun = ({ runs }: OpenThread): Run | undefined =>
  runs.value.find(({ status }) => status === 'pending' || status === 'running');

async function start(open: OpenThread, run: Omit<NewRun, 'assistant_id'>): Promise<void> {
  const assistant = assistantOf(open);
  if (assistant === undefined) throw new Error('No run of this thread tells which graph continues it.');
  await startRun(open.id, { assistant_id: assistant, ...run });
  open.release();
  await open.refresh();
}

export const proceed = (open: OpenThread) => act('continue', () => start(open, { input: null }));

export const sendInput = (open: OpenThread, input: Json) => act('send', () => start(open, { input }));

export const answer = (open: OpenThread, resume: Json) =>
  act('answer', () => start(open, { command: { resume } }));

export const fork = (open: OpenThread, checkpointId: string) =>
  act('fork', async () => {
    await start(open, { input: null, checkpoint_id: checkpointId });
    say('A branch from that step is running.');
  });

/** Writes into the state as a client, on the head or on an earlier checkpoint, and continues from there. */
export const proceedEdited = (open: OpenThread, values: JsonObject, checkpointId: string | undefined) =>
  act('continue edited', async () => {
    const on = checkpointId === undefined ? {} : { checkpoint_id: checkpointId };
    const { checkpoint_id: made } = await updateState(open.id, { values, ...on });
    await start(open, {
      input: null,
      ...(checkpointId !== undefined && made !== null && { checkpoint_id: made }),
    });
  });

export const stop = (open: OpenThread) =>
  act('stop', async () => {
    const run = openRun(open);
    if (run === undefined) return;
    await cancelRun(run);
    await open.refresh();
  });

export const startThread = (assistantId: string, input: Json) =>
  act('start', async () => {
    const { thread_id: id } = await createThread();
    await startRun(id, { assistant_id: assistantId, input });
    go(hrefOf(`/threads/${id}`));
    void reload();
  });

export const openDropped = (file: File) =>
  act('open file', async () => {
    const { opened_id: opened, thread_id: thread } = await openFile(file);
    go(hrefOf(`/opened/${opened}/threads/${thread}`));
  });

export const remove = (open: OpenThread) =>
  act('delete', async () => {
    await deleteThread(open.id);
    go(hrefOf('/threads'));
    void reload();
  });

export const copy = (open: OpenThread) =>
  act('copy', async () => {
    const { thread_id: id } = await copyThread(open.id);
    go(hrefOf(`/threads/${id}`));
  });

export const fileName = ({ id }: OpenThread): string => `${id.slice(0, 8)}.rewound`;

export const download = (open: OpenThread) =>
  act('export', async () => {
    const address = URL.createObjectURL(await exportThread(open.id));
    Object.assign(document.createElement('a'), { href: address, download: fileName(open) }).click();
    URL.revokeObjectURL(address);
  });

/** Executes a run again and shows what differs. */
export const runAgain = (open: OpenThread, runId: string, body: JsonObject = {}) =>
  act('again', async () => {
    const report = await replayRun(open.id, runId, body);
    keepReport(runId, report);
    go(hrefOf('/compare', { thread: open.id, run: runId }));
  });

export const copyReport = (open: OpenThread, runId: string) =>
  act('report', async () => toClipboard(await reportOf(open.id, runId), 'The report'));

/** Browsers have the clipboard's interface on secure origins alone; others copy what is selected. */
export async function toClipboard(text: string, what: string): Promise<void> {
  if (isSecureContext) await navigator.clipboard.writeText(text);
  else {
    const box = document.body.appendChild(Object.assign(document.createElement('textarea'), { value: text }));
    box.select();
    document.execCommand('copy');
    box.remove();
  }
  say(`${what} is in the clipboard.`);
}

/** The request that continues the thread, for a shell and for a program. */
export const asCurl = (open: OpenThread): string =>
  `curl -s ${location.origin}${base}/threads/${open.id}/runs/wait \\
  -H 'content-type: application/json' \\
  -d '${JSON.stringify({ assistant_id: assistantOf(open) ?? 'GRAPH', input: null }).replaceAll("'", `'\\''`)}'`;

export const asSdk = (open: OpenThread): string =>
  `import { Client } from '@langchain/langgraph-sdk';

const client = new Client({ apiUrl: '${location.origin}${base}' });
const state = await client.threads.getState('${open.id}');
const result = await client.runs.wait('${open.id}', '${assistantOf(open) ?? 'GRAPH'}', { input: null });`;
