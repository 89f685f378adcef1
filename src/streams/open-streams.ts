/** Wires the hub and the live readers of runs and threads together. */
import type { Clock } from '../kernel/clock.ts';
import type { EventLog } from '../store/port/log.ts';
import { createHub, type Hub } from './hub.ts';
import { createRunStreams, type RunStreams } from './run-stream.ts';
import { shareLargePages } from './shared-pages.ts';
import { createThreadEvents, type ThreadEvents } from './thread-events.ts';
import { createThreadStreams, type ThreadStreams } from './thread-stream.ts';

export interface Streams {
  readonly hub: Hub;
  readonly streams: RunStreams;
  readonly threadStreams: ThreadStreams;
  readonly threadEvents: ThreadEvents;
}

export function openStreams(log: EventLog, clock: Clock): Streams {
  const { log: shared, forget } = shareLargePages(log);
  const hub = createHub(log, forget);
  const streams = createRunStreams(shared, hub, clock);
  const threadStreams = createThreadStreams(shared, hub, streams, clock);
  return { hub, streams, threadStreams, threadEvents: createThreadEvents(shared, hub, clock) };
}
