/** State of the server for its operator, as `GET /server` tells it. */
import type { UnderstoodSetting } from '../../config/understood.ts';
import type { EventLog } from '../../store/port/log.ts';
import type { WorkerReport } from '../../workers/worker-report.ts';

export interface Operation {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly isDevelopment: boolean;
  readonly dataDir: string;
  /** Maximum number of concurrent runs. */
  readonly concurrency: number;
  readonly graphIds: readonly string[];
  workers(): readonly WorkerReport[];
  /** Graphs that do not load. */
  problems(): readonly { readonly graphId: string; readonly reason: string }[];
  warnings(): readonly string[];
  readonly settings: readonly UnderstoodSetting[];
  readonly log: Pick<EventLog, 'place' | 'bytes'>;
}
