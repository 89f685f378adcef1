/** Protocol commands that start runs: with input, with answers to interrupts, or from an earlier checkpoint. */
import { interruptKeys } from '../../kernel/ids.ts';
import { defined, isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { AcceptedRequest } from '../../store/port/payloads.ts';
import { CommandProblem } from '../../protocol/command.ts';
import { PROTOCOL_MODES } from '../../protocol/stream-modes.ts';
import { createRun } from '../runs/creation.ts';
import type { RunExtras } from '../runs/preparation.ts';
import { runCreate } from '../runs/schemas.ts';
import { HttpProblem, ConcurrencyConflict } from '../replies.ts';
import { check } from '../check.ts';
import { forkParams, injectParams, respondParams, startParams } from './schemas.ts';
import { findAccepted } from '../runs/idempotency.ts';
import type { Caller, Perform } from './caller.ts';
import { findThread, pendingInterrupts } from './state-commands.ts';
import type { ThreadRecord } from '../../store/port/views/threads.ts';

/** Maximum tries of an input that meets concurrency conflicts. */
const MAX_TRIES = 5;

async function create(
  { context, actor, threadId, idempotencyKey }: Caller,
  body: object,
  placement: Pick<RunExtras, 'ifHead' | 'lateAnswer'> = {},
): Promise<string> {
  const { run } = await createRun(
    context,
    actor,
    check(runCreate, {
      ...body,
      if_not_exists: 'create',
      stream_mode: PROTOCOL_MODES,
      stream_subgraphs: true,
    }),
    threadId,
    { protocol: 'v2', idempotencyKey, ...placement },
  );
  return run.runId;
}

/** Replies to a repeated command with the run of the first one, since performing it again may be impossible. */
const onceOnly =
  (perform: Perform, answer = ({ runId }: AcceptedRequest): JsonObject => ({ run_id: runId })): Perform =>
  async (caller, params) => {
    const earlier = caller.idempotencyKey && (await findAccepted(caller.context.log, caller.idempotencyKey));
    if (earlier === undefined) return perform(caller, params);
    await findThread(caller);
    return answer(earlier);
  };

/** `run.start`. For a thread with an open interrupt, the input is the answer to it. */
export const startRun = onceOnly(async (caller, given) => {
  if (typeof given['assistant_id'] !== 'string' || given['assistant_id'] === '')
    throw new CommandProblem('invalid_argument', 'run.start requires an assistant_id.');
  const { input = null, forkFrom, multitaskStrategy, ...params } = check(startParams, given);
  const body = {
    ...params,
    ...(forkFrom && { checkpoint_id: forkFrom.checkpointId }),
    multitask_strategy: multitaskStrategy ?? params.multitask_strategy ?? 'enqueue',
  };
  const command = toCommand(input);
  if (command !== undefined) return { run_id: await create(caller, { ...body, command }) };
  const checkpoint = body.checkpoint_id ?? body.checkpoint ?? body.config?.configurable?.['checkpoint_id'];
  const isFork = checkpoint !== undefined && checkpoint !== null;
  for (let tries = 0; input !== null && !isFork && tries < MAX_TRIES; tries += 1) {
    const thread = await findThread(caller).catch(asUndefined);
    if (thread?.status !== 'interrupted' || Object.keys(thread.interrupts).length === 0) break;
    try {
      return {
        run_id: await create(caller, { ...body, command: { resume: input } }, { ifHead: thread.head }),
      };
    } catch (error) {
      if (!(error instanceof ConcurrencyConflict)) throw error;
    }
  }
  return { run_id: await create(caller, { ...body, input }) };
});

/** The command in an input that is a serialized LangGraph `Command` (`RemoteGraph` sends it so). */
function toCommand(input: Json): JsonObject | undefined {
  if (!isObject(input) || input['lg_name'] !== 'Command') return undefined;
  const { goto, update, resume } = input;
  const targets = (Array.isArray(goto) ? goto : goto === undefined || goto === null ? [] : [goto]).map(
    (target) =>
      isObject(target) && target['lg_name'] === 'Send'
        ? { node: target['node'] ?? null, input: target['args'] ?? null }
        : target,
  );
  return {
    ...(targets.length > 0 && { goto: targets }),
    ...(update !== undefined && update !== null && { update }),
    ...(resume !== undefined && { resume }),
  };
}

/**
 * `input.respond`. Each interrupt is answered once: the run is created only if the thread's head is still the one whose
 * interrupts were read. A strict answer is checked when its run starts; a refusal then ends the run with an error.
 */
export const respond = onceOnly(async (caller, given) => {
  const answers = answersOf(given);
  const { strict_resume: isStrict = false, update, goto, ...params } = check(respondParams, given);
  const thread = await findThread(caller).catch(asUndefined);
  const last = thread && (await caller.context.log.views.runs.lastStarted(thread.threadId));
  if (thread === undefined || last === undefined) throw notWaiting(answers);
  const waiting = isStrict ? undefined : await pendingInterrupts(caller, thread);
  const consumed = waiting && Object.keys(answers).find((id) => !waiting.has(id));
  if (consumed !== undefined) throw notWaiting(answers, consumed);
  const body = {
    ...params,
    assistant_id: last.assistantId,
    command: { resume: answers, update, goto },
    strict_resume: isStrict,
  };
  // Keys of another form would make the map one value, which answers any interrupt.
  const foreign = interruptKeys(answers) === undefined ? { lateAnswer: Object.keys(answers) } : {};
  try {
    return { run_id: await create(caller, body, isStrict ? foreign : { ifHead: thread.head }) };
  } catch (error) {
    throw error instanceof ConcurrencyConflict ? notWaiting(answers) : error;
  }
});

const notWaiting = (answers: JsonObject, id = Object.keys(answers)[0]): CommandProblem =>
  new CommandProblem('no_such_interrupt', `Unknown or already-consumed interrupt: ${id}`);

function answersOf(params: JsonObject): JsonObject {
  const { responses } = params;
  if (responses !== undefined && responses !== null && (!Array.isArray(responses) || responses.length === 0))
    throw new CommandProblem('invalid_argument', 'input.respond requires at least one response.');
  const given = Array.isArray(responses) ? responses : [params];
  return Object.fromEntries(
    given.map((each) => {
      const { interrupt_id: id, response = null } = isObject(each) ? each : {};
      if (typeof id !== 'string' || id === '')
        throw new CommandProblem('invalid_argument', 'input.respond requires an interrupt_id.');
      return [id, response];
    }),
  );
}

/** `input.inject`. The message is the input of a new run that queues behind open runs. */
export const inject = onceOnly(async (caller, given) => {
  const { namespace = [], message } = check(injectParams, given);
  if (namespace.length > 0)
    throw new CommandProblem(
      'not_supported',
      'A message can be sent only to the root graph of the thread: namespace must be empty.',
    );
  const thread = await findThread(caller).catch(asUndefined);
  const last = thread && (await caller.context.log.views.runs.lastStarted(thread.threadId));
  if (thread === undefined || last === undefined)
    throw new CommandProblem('no_such_run', 'Thread has no active assistant; call run.start first.');
  if ((await pendingInterrupts(caller, thread)).size > 0)
    throw new CommandProblem('invalid_argument', 'The thread waits for an answer: use input.respond.');
  const input = { messages: [defined(message)] };
  return { run_id: await create(caller, { assistant_id: last.assistantId, input }) };
});

export const forkState = onceOnly(
  async (caller, given) => {
    const params = check(forkParams, given);
    const { threadId }: ThreadRecord = await findThread(caller);
    const last = await caller.context.log.views.runs.lastStarted(threadId);
    if (last === undefined)
      throw new CommandProblem('no_such_run', 'Thread has no active assistant; call run.start first.');
    const runId = await create(caller, { ...params, assistant_id: last.assistantId });
    return { run_id: runId, thread_id: threadId };
  },
  ({ runId, threadId }) => ({ run_id: runId, thread_id: threadId }),
);

/** Maps a 404 to undefined; rethrows other errors. */
function asUndefined(error: unknown): undefined {
  if (error instanceof HttpProblem && error.status === 404) return undefined;
  throw error;
}
