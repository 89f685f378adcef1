/** Prints the report of a re-execution. */
import type { Json } from '../../kernel/json.ts';
import type { RecordedRequest } from '../../recording/parts.ts';
import { shortId } from '../../kernel/ids.ts';
import { placeText, userPlaceOf } from '../../kernel/stack.ts';
import { clip, counted } from '../tell/text.ts';
import { commonEnds } from '../compare/alignment.ts';
import type { Comparison } from '../compare/executions.ts';
import { joinPaths, type Difference } from '../compare/difference.ts';
import { compareStates, sideOfRun } from '../compare/runs.ts';
import { printValues } from '../tell/print.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';
import type { Reexecution } from './execute.ts';
import type { PlacedRequest } from './places.ts';

export function printReexecution(result: Reexecution, print: (line: string) => void): void {
  const { runId, graphId, verdict, comparison, reasons, closedBy = [] } = result;
  print(`Run ${runId} of graph "${graphId}"`);
  if (comparison !== undefined)
    print(
      `compared: ${countsOf(comparison, result.exchanges)}; closed by ${closedBy.join(', ') || 'nothing'}`,
    );
  if (verdict === 'untried') {
    for (const reason of reasons) print(`not tried: ${reason}`);
    return;
  }
  if (verdict === 'equal') {
    if (comparison?.frames === undefined && !result.stoppedBefore)
      print('frames are not compared: several attempts, stubs, another start, or a run that was stopped');
    if (result.stoppedBefore)
      return print(`stopped before node ${result.stoppedBefore}: equal to the log so far`);
    if (result.stoppedBefore === null) print('the run does not come to the node of --break');
    return print('equal: the run does again what the log says');
  }
  for (const reason of reasons) print(`refused: ${reason}`);
  if (comparison?.divergence !== undefined) printDivergence(comparison.divergence, print);
  if (result.request !== undefined) {
    const [first, ...lines] = requestLines(result.request);
    const hint = result.request.recorded && ' (--match url goes on with the recorded answer)';
    print(`different: ${first}${hint ?? ''}`);
    for (const line of lines) print(`  ${line}`);
  }
  const failure = newFailure(result);
  if (failure !== undefined) print(failure);
}

/** The first line tells the verdict, others show how a request differs, or the failure that made the difference. */
export function verdictLines(result: Reexecution, tookMs?: number): string[] {
  const { runId, graphId, verdict, comparison, exchanges, request, reasons, outcome } = result;
  const run = `run ${shortId(runId)}… of ${graphId}:`;
  const took = tookMs === undefined ? [] : [`${(tookMs / 1000).toFixed(1)} s`];
  if (result.passesFailure === true) return [`${run} mended: ${[NO_LONGER_FAILS, ...took].join(', ')}`];
  if (verdict === 'untried') return [`${run} untried: ${reasons.join('; ')}`];
  if (verdict === 'equal') {
    const counts = [
      counted(comparison?.checkpoints ?? 0, 'checkpoint'),
      `${counted(exchanges, 'call')} served`,
      ...took,
    ];
    const failed = outcome?.kind === 'error' ? `: ${failsAsItDid(outcome)}` : '';
    return [`${run} equal (${counts.join(', ')})${failed}`];
  }
  if (request !== undefined) {
    const [place, ...lines] = requestLines(request);
    return [`${run} different: ${place}`, ...lines.map((line) => `  ${line}`)];
  }
  const failure = newFailure(result);
  return [
    `${run} different at ${differenceText(comparison!.divergence!)}`,
    ...(failure === undefined ? [] : [`  ${failure}`]),
  ];
}

export const NO_LONGER_FAILS = 'it failed and no longer does';

export const failsAsItDid = ({ error, message }: { error: string; message: string }): string =>
  `fails as it did: ${error}: ${clip(message, MAX_SHOWN)}`;

/** The failure of a run that differs: it explains a value that is missing. */
export function newFailure({ verdict, outcome, request }: Reexecution): string | undefined {
  // Without an answer, what code fails with follows from its request.
  if (verdict !== 'different' || outcome?.kind !== 'error' || request !== undefined) return undefined;
  const place = userPlaceOf(outcome.origin?.stack ?? '');
  const at = place === undefined ? '' : ` at ${placeText(place)}`;
  return `it fails with ${outcome.error}: ${clip(outcome.message, MAX_SHOWN)}${at}`;
}

function differenceText({ what, step, node, channel, path, recorded, found }: Difference): string {
  const place = [
    ...(step === undefined || step === Number.MAX_SAFE_INTEGER ? ['the end'] : [`step ${step}`]),
    ...(node === undefined || node === '' ? [] : [`node ${node}`]),
    ...(channel === undefined
      ? []
      : [`${what === 'frame' ? 'mode' : 'channel'} ${channel}${path ? ` ${path}` : ''}`]),
    ...(channel === undefined && what !== 'end' ? [what] : []),
  ];
  return `${place.join(', ')}: ${shown(recorded)} → ${shown(found)}`;
}

const countsOf = ({ checkpoints, writes, frames }: Comparison, exchanges: number): string =>
  [
    counted(checkpoints, 'checkpoint'),
    counted(writes, 'write'),
    ...(frames === undefined ? [] : [counted(frames, 'frame')]),
  ].join(', ') + `; ${counted(exchanges, 'recorded exchange')}`;

/** What an edited run came to: its conversation, and where it differs from the recorded one. */
export function printWhatIf(
  { values = null, stoppedBefore }: Reexecution,
  recorded: Json,
  run: RunRecord,
  print: (line: string) => void,
): void {
  printValues(values, { columns: undefined, print });
  if (stoppedBefore) return;
  const side = sideOfRun(run);
  const differences = compareStates('end', recorded, values, { recorded: side, found: side });
  print(differences.length === 0 ? 'the state is that of the log' : 'Differs from the log');
  for (const { channel = '', path = '', recorded: before, found } of differences)
    print(`  ${joinPaths(channel, path)}: ${shown(before)} → ${shown(found)}`);
}

function printDivergence(
  { what, step, node, channel, path, recorded, found }: Difference,
  print: (line: string) => void,
): void {
  const place = [
    ...(step === undefined || step === Number.MAX_SAFE_INTEGER ? [] : [`step ${step}`]),
    ...(node === undefined || node === '' ? [] : [`node ${node}`]),
    ...(channel === undefined ? [] : [what === 'frame' ? `mode ${channel}` : `channel ${channel}`]),
    ...(path === undefined || path === '' ? [] : [path]),
  ];
  print(`different: ${what}${place.length === 0 ? '' : `, ${place.join(', ')}`}`);
  print(`  recorded  ${shown(recorded)}`);
  print(`  found     ${shown(found)}`);
}

const MAX_SHOWN = 2_000;

function shown(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)`;
}

/** Tells where the code asks for something else than what is recorded, and the lines that differ. */
function requestLines({ task, path, recorded, found }: PlacedRequest): string[] {
  const [step, node] = task.split(' ');
  const place = `node ${node}, step ${step}, makes`;
  if (recorded === undefined)
    return [`${place} a request that was not recorded`, `found     ${found.method} ${found.url}`];
  return [
    `${place} another request${path === undefined ? '' : `, ${path}`}`,
    ...lineDifference(linesOf(recorded), linesOf(found)),
  ];
}

/** Request line and body, JSON bodies with one member a line. */
function linesOf({ method, url, body }: RecordedRequest): string[] {
  const text = bodyText(body);
  return [`${method} ${url}`, ...pretty(text).split('\n')].filter((line) => line !== '');
}

/** JSON form of the report: bodies are texts. */
export const toJsonReport = ({ request, trace: _, ...result }: Reexecution): object => ({
  ...result,
  ...(request && {
    request: {
      task: request.task,
      ...(request.path !== undefined && { path: request.path }),
      ...(request.recorded && { recorded: shownRequest(request.recorded) }),
      found: shownRequest(request.found),
    },
  }),
});

const shownRequest = ({ body, ...request }: RecordedRequest): object => ({
  ...request,
  ...(body && { body: bodyText(body) }),
});

const bodyText = (body: Uint8Array | undefined): string => Buffer.from(body ?? []).toString('utf8');

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Not JSON: shown as it is.
    return text;
  }
}

const CONTEXT_LINES = 2;

/** Unified form: equal lines around the differing ones, which begin with `-` and `+`. */
export function lineDifference(recorded: readonly string[], found: readonly string[]): string[] {
  const { head, tail } = commonEnds(recorded, found);
  const before = recorded.slice(Math.max(0, head - CONTEXT_LINES), head);
  const after = recorded.slice(recorded.length - tail, recorded.length - tail + CONTEXT_LINES);
  return [
    ...before.map((line) => `  ${line}`),
    ...recorded.slice(head, recorded.length - tail).map((line) => `- ${line}`),
    ...found.slice(head, found.length - tail).map((line) => `+ ${line}`),
    ...after.map((line) => `  ${line}`),
  ];
}
