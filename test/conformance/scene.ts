/** Words that many conformance tests share. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock, type Clock } from '../../src/kernel/clock.ts';
import type { Recorded } from '../../src/store/port/events.ts';
import { PROJECT, type TestServer } from '../support/with-server.ts';

/** Graphs that only conformance tests need. */
export const MORE = fileURLToPath(new URL('../fixtures/project/platform.more.json', import.meta.url));
export const MISSING = '00000000-0000-4000-8000-000000000000';
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/;

export const config = (name: string): string => join(PROJECT, name);
export const say = (content: string) => ({ messages: [{ role: 'user', content }] });
export const textsOf = (values: unknown): unknown[] =>
  ((values as { messages?: { content: unknown }[] }).messages ?? []).map(({ content }) => content);

export async function newThread(s: TestServer, body: object = {}): Promise<string> {
  const answer = await s.request('POST', '/threads', body);
  return (answer.json as { thread_id: string }).thread_id;
}

/** Starts a run of a plain function that waits until `open()`; resolves when it waits and nothing more happens. */
export async function startGated(
  s: TestServer,
  threadId: string,
  { graph = 'gate', ...more }: { graph?: string; [field: string]: unknown } = {},
): Promise<{ runId: string; gate: string; open(): void }> {
  const gate = join(s.dir, `gate-${threadId}`);
  const answer = await s.request('POST', `/threads/${threadId}/runs`, {
    assistant_id: graph,
    input: say('gated'),
    config: { configurable: { gate } },
    ...more,
  });
  const { run_id: runId } = answer.json as { run_id: string };
  await s.until(({ type, data }) => type === 'CheckpointSaved' && data.runId === runId);
  return { runId, gate, open: () => writeFileSync(gate, '') };
}

export const ended =
  (runId: string) =>
  ({ type, data }: Recorded): boolean =>
    type === 'RunCompleted' && data.runId === runId;

/** Resolves when a graph has left this mark. */
export async function untilMark(path: string, text: string): Promise<void> {
  while (!existsSync(path) || !readFileSync(path, 'utf8').includes(text))
    await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Wall time that never stands still, so that what happens later carries a later time. */
export function growingClock(): Clock {
  const clock = systemClock();
  let last = 0;
  return { ...clock, now: () => (last = Math.max(last + 1, clock.now())) };
}

/** Every pause takes a hundredth of its time. */
export function hastyClock(): Clock {
  const clock = systemClock();
  return { ...clock, monotonic: () => clock.monotonic() * 100, after: (ms, fn) => clock.after(ms / 100, fn) };
}

/** Real time, but a pause of `heldMs` lasts until it is ended. */
export function heldClock(heldMs: number): Clock & { end(): void } {
  const clock = systemClock();
  const held = new Set<() => void>();
  return {
    ...clock,
    after(ms, fn) {
      if (ms !== heldMs) return clock.after(ms, fn);
      held.add(fn);
      return () => void held.delete(fn);
    },
    end: () => held.forEach((fn) => fn()),
  };
}

/** A clock that stands still and jumps: whatever fell due in between happens once, at the end. */
export function leapingClock(): Clock & { leap(ms: number): void } {
  let now = Date.UTC(2026, 0, 1);
  const timers = new Set<{ due: number; fn: () => void }>();
  return {
    now: () => now,
    monotonic: () => now,
    after(ms, fn) {
      const timer = { due: now + ms, fn };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    leap(ms) {
      now += ms;
      for (const timer of [...timers].filter(({ due }) => due <= now)) {
        timers.delete(timer);
        timer.fn();
      }
    },
  };
}
