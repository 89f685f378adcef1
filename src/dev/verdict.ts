/** A verdict of `dev` on a save, for a terminal and for clients. */
import type { JsonObject } from '../kernel/json.ts';
import { shortId } from '../kernel/ids.ts';
import { toTimestamp } from '../kernel/clock.ts';
import type { Difference } from '../past/compare/difference.ts';
import type { Reexecution } from '../past/reexecution/execute.ts';
import { requestLines, shown, toJsonReport } from '../past/reexecution/print.ts';
import { counted } from '../past/tell/text.ts';

export interface Verdict {
  readonly result: Reexecution;
  /** Time of the verdict, in milliseconds since 1970. */
  readonly at: number;
  readonly tookMs: number;
}

/** The first line tells the verdict, others show how a request differs. */
export function verdictLines({ result, tookMs }: Verdict): string[] {
  const { runId, graphId, verdict, comparison, exchanges, request, reasons } = result;
  const run = `run ${shortId(runId)}… of ${graphId}:`;
  if (verdict === 'untried') return [`${run} untried: ${reasons.join('; ')}`];
  if (verdict === 'equal') {
    const counts = [
      counted(comparison?.checkpoints ?? 0, 'checkpoint'),
      `${counted(exchanges, 'call')} served`,
    ];
    return [`${run} equal (${counts.join(', ')}, ${(tookMs / 1000).toFixed(1)} s)`];
  }
  if (request !== undefined) {
    const [place, ...lines] = requestLines(request);
    return [`${run} different: ${place}`, ...lines.map((line) => `  ${line}`)];
  }
  return [`${run} different at ${differenceText(comparison!.divergence!)}`];
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

export const toJson = ({ result, at, tookMs }: Verdict): JsonObject => {
  const { threadId, runId, graphId, ...report } = toJsonReport(result) as JsonObject;
  const run = { run_id: runId!, thread_id: threadId!, graph_id: graphId! };
  return { ...run, at: toTimestamp(at), took_ms: Math.round(tookMs), ...report };
};
