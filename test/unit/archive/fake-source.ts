/** A thread in memory, for files that are written without a log. */
import type { Recorded } from '../../../src/store/port/events.ts';
import type { SourcePayload, SourceText, ThreadSource } from '../../../src/store/port/thread-source.ts';
import type { ThreadEvent } from '../../../src/thread/events.ts';
import { threadStream } from '../../../src/thread/events.ts';
import { fact, THREAD } from '../../support/given.ts';

export const wholeText = (data: string): SourceText => ({ data, whole: async () => data });

/** `events` happened a second apart. */
export function fakeSource(
  payloads: readonly SourcePayload[],
  events: readonly ThreadEvent[] = [fact.created()],
): ThreadSource {
  const stream = threadStream(THREAD);
  const recorded = events.map((event, index) => ({
    ...event,
    meta: { position: index + 1, stream, version: index + 1, at: 1_000 * (index + 1), commandId: 'c' },
  })) as Recorded[];
  return {
    readStream: async (of, from, limit) =>
      recorded.filter(({ meta }) => meta.stream === of && meta.version >= from).slice(0, limit),
    size: async () => 0,
    async *payloads() {
      yield* payloads;
    },
    close: async () => undefined,
  };
}
