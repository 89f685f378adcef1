/** Describes one event in words, with full ids. */
import { toTimestamp } from '../../kernel/clock.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { causesIn } from '../../kernel/stack.ts';
import type { Recorded } from '../../store/port/events.ts';
import type { RunKwargs, ThreadEventMap } from '../../thread/events.ts';
import type { Origin } from '../../thread/origin.ts';
import type { Usage } from '../../thread/usage.ts';
import type { Step } from '../steps.ts';
import { clip, counted, durationText, nodesText, valueText } from './text.ts';
import type { Tokens } from '../added-messages.ts';

/** Context of an event that its data does not contain. */
export interface Around {
  /** Ordinal of the event's run in the thread, from 1. */
  readonly ordinal?: number;
  /** Milliseconds since the attempt began. */
  readonly tookMs?: number;
  /** Milliseconds that the run waited for this attempt. */
  readonly waitedMs?: number;
  readonly tokens?: Tokens;
}

/** Shorter waits are normal server overhead and are not shown. */
const MIN_WAIT_MS = 100;

const accountText = ({ deaths, charges }: { readonly deaths: number; readonly charges: number }): string =>
  deaths + charges === 0
    ? ''
    : `; against it: ${counted(deaths, 'death')} in a row, ${counted(charges, 'charge')}`;

/** What a caller asks for; the other events of the caller's commit only follow from it. */
const ASKED: ReadonlySet<Recorded['type']> = new Set<Recorded['type']>([
  ...(['ThreadCreated', 'ThreadCopied', 'ThreadUpdated', 'ThreadPruned', 'ThreadDeleted'] as const),
  ...(['RunCreated', 'RunCancelRequested', 'RunDeleted', 'StateUpdated'] as const),
]);

const MAX_CALLER_CHARS = 40;

export function summarise(event: Recorded, around: Around, step?: Step): string {
  const { by } = event.data;
  const text = describe(event, around, step);
  return by === undefined || !ASKED.has(event.type) ? text : `${text}, by ${clip(by, MAX_CALLER_CHARS)}`;
}

function describe(event: Recorded, around: Around, step?: Step): string {
  const run = `run ${around.ordinal ?? ('runId' in event.data ? event.data.runId : '')}`;
  switch (event.type) {
    case 'ThreadCreated': {
      const { temporary, metadata } = event.data;
      const why = temporary ? ' for one stateless run' : '';
      return `thread created${why}${metadataText(metadata)}`;
    }
    case 'ThreadCopied':
      return `thread copied from ${event.data.from}`;
    case 'ThreadUpdated':
      return `thread updated${metadataText(event.data.metadata)}`;
    case 'ThreadImported': {
      const { program, exportedAt } = event.data.origin;
      return `thread imported from a file that version ${program} exported at ${toTimestamp(exportedAt)}`;
    }
    case 'ThreadPruned':
      return `thread pruned to ${event.data.kept.length} checkpoints`;
    case 'ThreadDeleted':
      return 'thread deleted, and all before it';
    case 'RunCreated': {
      const { runId, graphId, kwargs, metadata, notBefore } = event.data;
      const cron = metadata['cron_id'];
      return [
        `${run} of ${graphId} (${runId})`,
        ...(typeof cron === 'string' ? [`by cron ${cron}`] : []),
        ...(notBefore > event.meta.at ? [`not before ${toTimestamp(notBefore)}`] : []),
        askedText(kwargs),
      ].join(', ');
    }
    case 'RunStarted': {
      const { waitedMs = 0 } = around;
      const { attempt } = event.data;
      const wait = waitedMs < MIN_WAIT_MS ? '' : `, after waiting ${durationText(waitedMs)}`;
      return `${run} started${attempt === 1 ? '' : ` again, attempt ${attempt}`}${wait}`;
    }
    case 'RunBegun':
      return `${run} attempt ${event.data.attempt}: its graph code begins`;
    case 'RunRequeued': {
      const { attempt, lost, reason } = event.data;
      const how = `${lost ? 'was lost' : 'is handed back'}: ${reason}`;
      return `${run} attempt ${attempt} ${how}${accountText(event.data)}`;
    }
    case 'RunCancelRequested':
      return `${run} is told to stop (${event.data.action}): ${event.data.cancelReason ?? event.data.reason}`;
    case 'CheckpointSaved':
      return `${stepText(event.data.step, step)}${nextText(step?.next)}`;
    case 'StateUpdated':
      return `state changed by a client${nextText(event.data.next)}`;
    case 'RunCompleted':
      return `${run} ${outcomeText(event.data, around)}`;
    case 'RunDeleted':
      return `${run} deleted (${event.data.runId})`;
    case 'CronCreated':
    case 'CronUpdated': {
      const { cronId, schedule, timezone, nextAt } = event.data;
      return `cron ${cronId} "${schedule}" ${timezone ?? 'UTC'}, next ${slotText(nextAt)}`;
    }
    case 'CronFired': {
      const { cronId, slot, since, runId } = event.data;
      return `cron ${cronId} slot ${slotText(slot)}${sinceText(since)}: run ${runId}`;
    }
    case 'CronSlotPassed': {
      const { cronId, slot, since, reason } = event.data;
      return `cron ${cronId} slot ${slotText(slot)}${sinceText(since)}: ${reason}`;
    }
    case 'WebhookOwed':
      return `webhook ${event.data.deliveryId} owed for ${run}`;
    case 'WebhookDelivered':
      return `webhook ${event.data.deliveryId} delivered at attempt ${event.data.attempt}: ${event.data.status} in ${durationText(event.data.ms)}`;
    case 'WebhookAttemptFailed':
      return `webhook ${event.data.deliveryId} failed at attempt ${event.data.attempt}: ${event.data.error}`;
    case 'WebhookRedeliveryRequested':
      return `webhook ${event.data.deliveryId} is to be sent again`;
    case 'WebhookBodyErased':
      return `webhook ${event.data.deliveryId}: its body is erased`;
    case 'WebhookOrphaned':
      return `webhook ${event.data.deliveryId}: the run that it reports is deleted`;
    default:
      return event.type;
  }
}

const metadataText = (metadata: JsonObject): string =>
  Object.keys(metadata).length === 0 ? '' : `, metadata ${valueText(metadata)}`;

/** LangGraph's internal node that distributes the input. */
const START_NODE = '__start__';

/** Describes what led to a checkpoint. */
export function stepText(
  number: number,
  { graph, source, nodes }: Step = { graph: '', source: '', nodes: [] },
): string {
  const own = nodes.filter((node) => node !== START_NODE);
  const label =
    own.length > 0
      ? nodesText(own)
      : nodes.length > 0
        ? 'start'
        : source === 'loop'
          ? `step ${number}`
          : source;
  return graph === '' ? label : `${graph}|${label}`;
}

const nextText = (next: readonly string[] | undefined): string =>
  nextNodes(next).length === 0 ? '' : `, next: ${nodesText(nextNodes(next))}`;

/** Removes LangGraph's internal node. */
export const nextNodes = (next: readonly string[] = []): string[] =>
  next.filter((node) => node !== START_NODE);

const slotText = (at: number | null): string => (at === null ? 'none' : toTimestamp(at));
const sinceText = (since: number | null): string =>
  since === null ? '' : ` and all since ${toTimestamp(since)}`;

/** Describes the input or command of a run. */
function askedText({ input, command }: Pick<RunKwargs, 'input' | 'command'>): string {
  if (command !== undefined) {
    const { resume, ...rest } = command;
    return Object.keys(rest).length === 0 && resume !== undefined
      ? `answers ${valueText(resume)}`
      : `command ${valueText(command)}`;
  }
  return input === null ? 'goes on without input' : `input ${firstWords(input)}`;
}

/** Returns the content of the first message of an input, else the input as JSON. */
export function firstWords(input: Json, max?: number): string {
  const messages = isObject(input) ? input['messages'] : undefined;
  const [message] = Array.isArray(messages) ? messages : [messages];
  const content = isObject(message) ? message['content'] : message;
  return typeof content === 'string' ? JSON.stringify(clip(content, max)) : valueText(input, max);
}

function outcomeText({ outcome, usage }: ThreadEventMap['RunCompleted'], { tookMs, tokens }: Around): string {
  const after =
    (tookMs === undefined ? '' : ` after ${durationText(tookMs)}`) +
    (usage !== undefined ? `, ${usageText(usage)}` : tokens === undefined ? '' : `, ${tokensText(tokens)}`);
  switch (outcome.kind) {
    case 'success': {
      if (outcome.next.length === 0) return `succeeded${after}`;
      const texts = interruptValuesOf(outcome.interrupts).map((value) => valueText(value));
      const asks = texts.length === 0 ? '' : `, asks ${texts.join(' and ')}`;
      return `paused before ${nodesText(outcome.next)}${after}${asks}`;
    }
    case 'error':
      return `failed${after} ${placeOf(outcome.origin)}${outcome.error}: ${outcome.message}${moreOf(outcome.origin)}`;
    case 'timeout':
      return `timed out${after}: ${outcome.message}`;
    case 'cancelled':
      return `was cancelled${after}: ${outcome.reason}${nextText(outcome.next)}`;
    case 'rolled-back':
      return `was rolled back${after}: ${outcome.reason}`;
  }
}

/** Returns the values of all interrupts in the order of their tasks. */
export const interruptValuesOf = (interrupts: JsonObject): Json[] =>
  Object.values(interrupts).flatMap((list) =>
    (Array.isArray(list) ? list : []).map((each) => (isObject(each) ? (each['value'] ?? null) : each)),
  );

const tokensText = ({ input, output, total }: Tokens): string =>
  `${total} tokens (${input} in, ${output} out)`;

function usageText({ calls, inputTokens: input, outputTokens: output, unreported = 0 }: Usage): string {
  const called = `${counted(calls, 'call')}${unreported > 0 ? ` (${unreported} without tokens)` : ''}`;
  return `${called}, ${tokensText({ input, output, total: input + output })}`;
}

function moreOf({ stack = '', remedy }: Origin = {}): string {
  const causes = causesIn(stack).map((cause) => `, caused by ${cause}`);
  return [...causes, ...(remedy === undefined ? [] : [`; ${remedy}`])].join('');
}

function placeOf({ node, channel, step }: Origin = {}): string {
  if (node === undefined) return 'with ';
  const more = [
    ...(channel === undefined ? [] : [`channel "${channel}"`]),
    ...(step === undefined ? [] : [`step ${step}`]),
  ];
  return `in ${[`node "${node}"`, ...more].join(', ')}: `;
}
