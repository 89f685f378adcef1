/** What stands against executing a run again. */
import type { Player } from '../../recording/player.ts';
import { digestOf } from '../../recording/request.ts';
import { placeOfTask } from './places.ts';
import type { RunData } from './run-data.ts';

interface Options {
  readonly live: boolean;
  readonly stubs: readonly string[];
  readonly from?: string | undefined;
}

/** Returns the reasons why the run cannot be executed again. */
export function reasonsAgainst(data: RunData, player: Player, { live, stubs, from }: Options): string[] {
  if (data.trace.outcome === undefined) return ['the run has not ended'];
  if (data.trace.outcome.kind === 'rolled-back') return ['the run was rolled back: what it saved is gone'];
  const reasons: string[] = [];
  if (data.unreadable !== undefined) reasons.push(data.unreadable);
  if (from !== undefined && !data.trace.checkpoints.some(({ checkpointId }) => checkpointId === from))
    reasons.push(`--from: the run has no checkpoint ${from}`);
  if (player.start === undefined && data.parts.length > 0) reasons.push('the recording has no beginning');
  const damaged = player.exchanges.findIndex(({ request, digest }) => digestOf(request) !== digest);
  if (damaged >= 0) reasons.push(`the recording is damaged: exchange ${damaged + 1} has another digest`);
  if (live) return reasons;
  for (const { what, task } of player.unrecorded)
    if (!stubs.some((node) => task.split(' ')[1]?.split('|').includes(node) === true))
      reasons.push(
        `${what} of ${placeOfTask(task)} is not recorded; --stub takes a node's writes from the log`,
      );
  if (player.cut !== undefined)
    reasons.push(`the recording was cut at ${player.cut.maxBytes} bytes (recording.max_bytes)`);
  return [...new Set(reasons)];
}
