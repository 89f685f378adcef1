/**
 * Endpoints that export a thread into a file and import one.
 *
 * A2 The caller's handlers decide about an imported thread as about a new one. A3 An id that another user has taken
 * looks like any taken id.
 */
import { open } from 'node:fs/promises';
import { z } from 'zod';
import type { Actor } from '../../auth/authenticate.ts';
import { findJsonProblem } from '../../kernel/json.ts';
import { PRODUCT } from '../../kernel/product.ts';
import { authorise, grantedMetadata } from '../access.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { withDefault } from '../fields.ts';
import { file, json, problems } from '../openapi/descriptions.ts';
import { HttpProblem, importTaken, invalid, jsonReply, noThread } from '../replies.ts';
import { streamingResponse } from '../streaming-body.ts';
import { streamingReply } from '../streaming-reply.ts';
import { thread } from './shapes.ts';
import { shownThread } from './shown-thread.ts';
import { MAX_UNPACKED_BYTES, orFull, receive, type CarriedFile } from './spool.ts';

const TYPE = 'application/octet-stream';
const CHUNK_BYTES = 256 * 1024;
/** Nothing is sent in between: the file is whole when the first byte leaves. */
const SILENCE_MS = 60_000;

const importQuery = z.object({
  new_id: withDefault(z.boolean('expected true or false'), false).meta({
    description: 'Gives the thread and its runs new ids.',
  }),
});

export const threadCarriageEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/export',
    tag: 'threads',
    summary: 'Export a thread into a file',
    description:
      'The file holds the events, checkpoints, frames and recordings of the thread, and no secrets, webhooks or crons.',
    replies: { 200: file(TYPE, 'The file'), ...problems(404) },
    async handle({ context, actor, params: { thread_id: threadId }, c }) {
      const { filter } = await authorise(context, actor, 'threads:read', { thread_id: threadId });
      if ((await context.log.views.threads.get(threadId, filter)) === undefined) throw noThread(threadId);
      const carried = context.carriage.newFile(actor.user?.identity);
      try {
        await writeExport(context, actor, threadId, carried.path);
        carried.spooled();
        return await sendFile({ context, actor, c }, threadId, carried);
      } catch (error) {
        await carried.remove();
        throw orFull(error);
      }
    },
  }),
  endpoint({
    method: 'post',
    path: '/threads/import',
    tag: 'threads',
    summary: 'Import an exported thread',
    description:
      'The body is a file that an export made. Runs that were open in it end with the reason `imported`. A file that ' +
      'is damaged or foreign is refused, and so are ids that are or were taken; nothing of it is written then.',
    query: importQuery,
    upload: TYPE,
    replies: { 200: json(thread, 'The imported thread'), ...problems(409) },
    async handle({ context, actor, query, c }) {
      const { carriage, log } = context;
      const user = actor.user?.identity;
      const carried = carriage.newFile(user);
      try {
        await receive(c.req.raw, carried.path);
        const threadId = await carriage.importInTurn(user, () =>
          importFile(context, actor, carried.path, query.new_id),
        );
        const imported = await log.views.threads.get(threadId);
        if (imported === undefined) throw new Error(`thread ${threadId} was imported and cannot be read`);
        return jsonReply(await shownThread(log, imported));
      } catch (error) {
        throw orFull(error);
      } finally {
        await carried.remove();
      }
    },
  }),
];

/** Removes the file when the reply is over. */
async function sendFile(
  asked: Parameters<typeof streamingReply>[0],
  threadId: string,
  { path, remove }: CarriedFile,
): Promise<Response> {
  const written = await open(path, 'r');
  const { size } = await written.stat();
  const reply = streamingReply(asked, {
    headers: {
      'content-type': TYPE,
      'content-length': String(size),
      'content-disposition': `attachment; filename="${threadId}.${PRODUCT}"`,
    },
  });
  const end = (): void => {
    written
      .close()
      .then(remove)
      .catch((error: unknown) => asked.context.onFault(error, 'removing an exported file'));
  };
  reply.over.signal.addEventListener('abort', end, { once: true });
  let left = size;
  return streamingResponse(reply, {
    ...{ headers: {}, idle: '', everyMs: SILENCE_MS },
    async produce() {
      // The client has gone, and the file is closed.
      if (reply.over.signal.aborted) return { text: '', last: true };
      const { bytesRead, buffer } = await written.read(Buffer.alloc(CHUNK_BYTES));
      left -= bytesRead;
      return { text: buffer.subarray(0, bytesRead), last: left <= 0 };
    },
  });
}

async function writeExport(
  context: ServerContext,
  actor: Actor,
  threadId: string,
  path: string,
): Promise<void> {
  const { exportThread, NothingToExport } = await import('../../archive/write.ts');
  const { TooLarge } = await import('../../archive/to-bytes.ts');
  const { writeFile } = await import('../../archive/to-file.ts');
  const source = await context.carriage.openSource(threadId);
  try {
    const chunks = exportThread(source, {
      ...{ threadId, exportedAt: context.clock.now(), libraries: context.carriage.libraries() },
      mayTell: (assistantId) => isReadable(context, actor, assistantId),
    });
    await writeFile(path, chunks, { replace: false });
  } catch (error) {
    if (error instanceof NothingToExport) throw noThread(threadId);
    if (error instanceof TooLarge) throw invalid(error.message);
    throw error;
  } finally {
    await source.close();
  }
}

/** A2 The configuration of an assistant is shown to those who may read the assistant. */
async function isReadable(context: ServerContext, actor: Actor, assistantId: string): Promise<boolean> {
  try {
    const { filter } = await authorise(context, actor, 'assistants:read', { assistant_id: assistantId });
    return (await context.log.views.assistants.get(assistantId, filter)) !== undefined;
  } catch (error) {
    if (error instanceof HttpProblem) return false;
    throw error;
  }
}

/** Returns the thread's id. */
async function importFile(
  context: ServerContext,
  actor: Actor,
  path: string,
  hasNewId: boolean,
): Promise<string> {
  const { openExport } = await import('../../archive/read.ts');
  const { ExportRefused } = await import('../../archive/refusal.ts');
  const { inspect } = await import('../../archive/inspect.ts');
  const { SERVED_HISTORY } = await import('../../archive/limits.ts');
  const { importThread } = await import('../../archive/import.ts');
  const { idUnder, KEEP_IDS, newIds } = await import('../../archive/new-ids.ts');
  const { log, threads, ids } = context;
  const refused = (error: unknown): never => {
    throw error instanceof ExportRefused ? invalid(error.message) : error;
  };
  const exported = await openExport(path, { name: 'body', maxBytes: MAX_UNPACKED_BYTES }).catch(refused);
  try {
    const inspected = await inspect(exported, SERVED_HISTORY).catch(refused);
    // Metadata that a client sends is held to the same.
    const problem = findJsonProblem(inspected.state.metadata);
    if (problem !== undefined) throw invalid(`metadata.${problem.path}: ${problem.problem}`);
    const rename = hasNewId ? newIds(inspected, ids.uuid) : KEEP_IDS;
    const granted = await authorise(context, actor, 'threads:create', {
      thread_id: idUnder(rename, inspected.threadId),
      metadata: inspected.state.metadata,
      if_exists: 'raise',
    });
    const metadata = grantedMetadata(granted);
    const ttl = inspected.state.ttl ?? context.defaultTtl;
    const imported = await importThread({ log, threads, ids }, exported, inspected, {
      rename,
      metadata,
      ttl,
    });
    if (!imported.ok) throw importTaken();
    return imported.threadId;
  } finally {
    await exported.close();
  }
}
