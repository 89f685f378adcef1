/** The server itself, and the graphs that it serves. */
import { ask } from './http.ts';
import type { Report } from './runs.ts';
import type { Assistant, Cron, Drawing, Schemas, Webhook } from './types.ts';

export const assistants = (): Promise<readonly Assistant[]> =>
  ask('/assistants/search', { method: 'POST', body: { limit: 100 } });

const schemas = new Map<string, Promise<Schemas>>();

/** The schemas of an assistant's graph, kept until the page is loaded again or they could not be read. */
export function schemasOf(assistantId: string): Promise<Schemas> {
  const known = schemas.get(assistantId);
  if (known !== undefined) return known;
  const found = ask<Schemas>(`/assistants/${assistantId}/schemas`);
  schemas.set(assistantId, found);
  found.catch(() => schemas.delete(assistantId));
  return found;
}

export const drawingOf = (assistantId: string): Promise<Drawing> =>
  ask(`/assistants/${assistantId}/graph`, { query: { xray: true } });

export const verdicts = (): Promise<readonly Report[]> => ask('/server/verdicts');

export const webhooks = (): Promise<readonly Webhook[]> => ask('/webhooks', { query: { limit: 50 } });

export const redeliver = (id: string): Promise<unknown> =>
  ask(`/webhooks/${id}/redeliver`, { method: 'POST' });

export const crons = (): Promise<readonly Cron[]> =>
  ask('/runs/crons/search', { method: 'POST', body: { limit: 50 } });

export const setCron = (id: string, enabled: boolean): Promise<unknown> =>
  ask(`/runs/crons/${id}`, { method: 'PATCH', body: { enabled } });

export interface Metrics {
  readonly queue: Readonly<Record<string, number | null>>;
  readonly workers: { readonly max: number; readonly active: number; readonly available: number };
}

export const metrics = (): Promise<Metrics> => ask('/metrics', { query: { format: 'json' } });

export const info = (): Promise<{
  readonly version: string;
  readonly flags: Readonly<Record<string, boolean>>;
}> => ask('/info');
