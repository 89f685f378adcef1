/** Verdicts of saves on recorded runs. Only servers of `dev` have any. */
import { signal } from '@preact/signals';
import { verdicts as read } from '../api/server.ts';
import type { Report } from '../api/runs.ts';
import { poll } from './poll.ts';

export const verdicts = signal<readonly Report[]>([]);

export const keepVerdictsFresh = () =>
  poll(async () => {
    const found = await read();
    if (JSON.stringify(found) !== JSON.stringify(verdicts.peek())) verdicts.value = found;
  });
