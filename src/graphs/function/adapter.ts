/**
 * Runs plain functions `(state, config) => update | AsyncIterable<update>`. Every update becomes a checkpoint. Its frames
 * are sent before it is saved, so a crash in between repeats frames instead of losing them.
 */
import type { Ids } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Attempt, AttemptStore } from '../attempt.ts';
import { awaitedSaves } from '../awaited-saves.ts';
import { BudgetReached, LocatedFailure, toErrorEnd } from '../failure.ts';
import type { GraphFunction } from '../graph-function.ts';
import { toCompiledGraph } from '../graph-shapes.ts';
import type { Interrupt, RunEnd, RunOrder } from '../port.ts';
import { createGraphStore } from '../store.ts';
import { toWire } from '../wire.ts';
import { openCall, type Call, type RaisedInterrupt } from './call.ts';
import { interruptIdOf, taskIdOf, toErrorWrite, toPauseWrites } from './checkpoint-body.ts';
import { openJournal, type Journal, type StagedCheckpoint } from './journal.ts';
import { openOutput, type Output } from './output.ts';
import { planRun, type Plan } from './plan.ts';
import { toUpdate } from './values.ts';

/** The result of calling a function. */
export type Outcome = { readonly value: unknown } | { readonly thrown: unknown };

/**
 * Called with the outcome of a function that may be a factory, before anything is saved. A returned end is the run's end;
 * undefined means that the function is plain.
 */
export type Divert = (outcome: Outcome) => Promise<RunEnd | undefined>;

const FINISHED: RunEnd = { kind: 'success', next: [], interrupts: {} };

/** Rejects with the error that the function throws. With `divert` the function may be a factory. */
export async function runFunction(
  fn: GraphFunction,
  order: RunOrder,
  attempt: Attempt,
  ids: Ids,
  divert?: Divert,
): Promise<RunEnd> {
  let steps = 0;
  if (order.observe) attempt.observe(() => ({ steps, modelCalls: 0, warnings: [] }));
  const plan = await planRun(order, attempt.store, ids);
  const { values } = plan.head;
  const state = (): string => values.wireText();
  const output = openOutput(order, attempt.frames, attempt.clock);
  if (plan.kind === 'nothing') {
    output.values(state);
    return FINISHED;
  }
  const continued = plan.kind === 'continue' ? plan : undefined;
  let isYielding = false;
  const { saveNow, store: yieldingStore } = attempt;
  const save: AttemptStore['save'] = (checkpoint) =>
    isYielding ? yieldingStore.save(checkpoint) : saveNow(checkpoint);
  const saving = { store: awaitedSaves({ ...yieldingStore, save }), meter: attempt.meter };
  const journal = openJournal(order, plan.head, continued, saving, ids);
  const taskId = (): string => taskIdOf(journal.record);
  const show = async (staged: StagedCheckpoint): Promise<void> => {
    output.note(staged);
    output.values(state);
    output.checkpoint(staged, state, taskId);
    await staged.write();
  };
  const first = stageFirst(plan, journal);
  const start = continued === undefined ? values.copy() : continued.start;
  const call = openCall(order, toReplay(plan), attempt.signal, {
    async update(value) {
      if (toCompiledGraph(value) !== undefined)
        throw new TypeError(
          `The function of the graph "${order.graphId}" gave a graph where an update belongs. ` +
            'A factory of graphs takes a config: name its first parameter "config"',
        );
      const staged = journal.stage(toUpdate(value, 'An update'), 'loop');
      steps += 1;
      output.update(staged, staged.step);
      await show(staged);
      await attempt.frames.ready();
    },
    yields() {
      // The event loop turns between the updates of a generator that does not wait.
      isYielding = true;
    },
    goOn() {
      const limit = attempt.meter.reached();
      if (limit !== undefined) throw new BudgetReached(limit);
    },
    custom: output.custom,
    ready: attempt.frames.ready,
    store: createGraphStore(attempt.items),
  });

  let result = (): unknown => fn(start, call.config);
  if (divert !== undefined) {
    const outcome = await callOnce(fn, start, call);
    const end = call.stoppedAt() === undefined ? await divert(outcome) : undefined;
    if (end !== undefined) return end;
    result = () => {
      if ('thrown' in outcome) throw outcome.thrown;
      return outcome.value;
    };
  }
  output.started(order.resume ? null : ((order.command ?? order.input) as Json));
  if (first === undefined) output.values(state);
  else await show(first);
  output.task(taskId, state);

  const stoppedAt = await drain(call, result, journal, attempt, order.graphId);
  if (stoppedAt !== undefined) return pause(stoppedAt, order, journal, output, attempt, plan);
  if (journal.unfinished) await journal.close();
  output.ended(state, taskId);
  return FINISHED;
}

function stageFirst(plan: Plan, journal: Journal): StagedCheckpoint | undefined {
  if (plan.kind === 'begin') return journal.stage(plan.update, 'input');
  return plan.kind === 'continue' && plan.update !== undefined
    ? journal.stage(plan.update, 'update')
    : undefined;
}

const toReplay = (plan: Plan) =>
  plan.kind === 'continue'
    ? { done: plan.record.done, resumeValues: plan.record.answers, silentResumes: plan.silentResumes }
    : { done: 0, resumeValues: [], silentResumes: 0 };

async function callOnce(fn: GraphFunction, start: Record<string, unknown>, call: Call): Promise<Outcome> {
  try {
    return { value: await fn(start, call.config) };
  } catch (thrown) {
    return { thrown };
  }
}

/** Writes an error to the last checkpoint, where the thread's state shows it. */
async function drain(
  call: Call,
  result: () => unknown,
  journal: Journal,
  attempt: Attempt,
  node: string,
): Promise<RaisedInterrupt | undefined> {
  try {
    return await call.drain(result);
  } catch (thrown) {
    if (!attempt.signal.aborted)
      await attempt.store.saveWrites('', journal.headId, [
        toErrorWrite(journal.record, toErrorEnd(thrown).message),
      ]);
    throw new LocatedFailure(thrown, { node, step: journal.step + 1 });
  }
}

async function pause(
  { index, value }: RaisedInterrupt,
  order: RunOrder,
  { record, headId }: Journal,
  output: Output,
  attempt: Attempt,
  { head: { values } }: Plan,
): Promise<RunEnd> {
  const id = interruptIdOf(order.threadId, record, index);
  const writes = toPauseWrites(record, { id, index, value }, order.runId);
  const interrupt: Interrupt = { id, value: toWire(value) };
  const taskId = taskIdOf(record);
  output.paused(
    { ...interrupt },
    () => taskId,
    () => values.wireText({ __interrupt__: [{ ...interrupt }] }),
  );
  await attempt.store.saveWrites('', headId, writes);
  return { kind: 'success', next: [order.graphId], interrupts: { [taskId]: [interrupt] } };
}
