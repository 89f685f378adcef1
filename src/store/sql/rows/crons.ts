/** Rows of crons: what they are, and when each is due. */
import { MISSED, type CronContent, type CronEvent } from '../../../cron/events.ts';
import type { Recorded } from '../../port/events.ts';
import type { Row, RowWrite } from '../../port/rows.ts';

export function projectCron(event: Recorded<CronEvent>): readonly RowWrite[] {
  const { at, version } = event.meta;
  const key = { cron_id: event.data.cronId };
  const table = 'crons';
  switch (event.type) {
    case 'CronCreated': {
      const { nextAt } = event.data;
      const times = { next_at: nextAt, refused: null, version, created_at: at, updated_at: at };
      return [{ op: 'put', table, row: { ...key, ...columnsOf(event.data), ...times } }];
    }
    case 'CronUpdated': {
      const { nextAt } = event.data;
      const set = { ...columnsOf(event.data), next_at: nextAt, version, updated_at: at };
      return [{ op: 'set', table, key, set }];
    }
    // No change of a client's: `updated_at` stays.
    case 'CronFired':
      return [{ op: 'set', table, key, set: { next_at: event.data.nextAt, refused: null, version } }];
    case 'CronSlotPassed': {
      const { nextAt, slot, reason } = event.data;
      const refused = reason === MISSED ? {} : { refused: JSON.stringify({ slot, reason }) };
      return [{ op: 'set', table, key, set: { next_at: nextAt, ...refused, version } }];
    }
    case 'CronDeleted':
      return [{ op: 'drop', table, key }];
  }
}

const columnsOf = (content: CronContent): Row => ({
  assistant_id: content.assistantId,
  thread_id: content.threadId,
  schedule: content.schedule,
  timezone: content.timezone,
  end_time: content.endTime,
  enabled: content.enabled ? 1 : 0,
  on_run_completed: content.onRunCompleted,
  user_id: content.userId,
  payload: JSON.stringify(content.payload),
  metadata: JSON.stringify(content.metadata),
});
