/** Reports of re-executions that this page has asked for, by run. */
import { signal } from '@preact/signals';
import type { Report } from '../api/runs.ts';

const reports = signal<ReadonlyMap<string, Report>>(new Map());

export const reportFor = (runId: string): Report | undefined => reports.value.get(runId);

export function keepReport(runId: string, report: Report): void {
  reports.value = new Map([...reports.peek(), [runId, report]]);
}
