/** Whether runs have ended, and how. Asked at every wake-up of everybody who waits, so nothing else of a run is read. */
import { fromStored } from '../../../kernel/stored-json.ts';
import type { RunViews } from '../../port/views/runs.ts';
import type { Outcome } from '../../../thread/events.ts';
import type { Ask } from '../ask.ts';

interface EndRow {
  [column: string]: string | number | null;
  thread_id: string;
  ended_at: number | null;
  outcome: string | null;
  head: string | null;
}

export const runEndViews = (ask: Ask): Pick<RunViews, 'isOpen' | 'end' | 'owesWebhook'> => ({
  async isOpen(runId) {
    const sql = 'SELECT 1 AS found FROM runs WHERE run_id = @runId AND ended_at IS NULL';
    return (await ask.get(sql, { runId })) !== undefined;
  },
  async end(runId) {
    const sql = 'SELECT thread_id, ended_at, outcome, head FROM runs WHERE run_id = @runId';
    const row = await ask.get<EndRow>(sql, { runId });
    if (row === undefined) return undefined;
    const { thread_id: threadId, ended_at: endedAt, outcome, head } = row;
    if (endedAt === null) return 'open';
    return {
      ...{ runId, threadId, head },
      outcome: outcome === null ? null : (fromStored(outcome, 'outcome of run', runId) as Outcome),
    };
  },
  async owesWebhook(runId) {
    const sql = 'SELECT 1 AS found FROM runs WHERE run_id = @runId AND webhook = 1';
    return (await ask.get(sql, { runId })) !== undefined;
  },
});
