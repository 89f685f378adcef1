/** The server itself, and the graphs that it serves. */
import { ask } from './http.ts';
import type { Report } from './runs.ts';
import type { Assistant, Cron, Drawing, Json, Schemas, Webhook } from './types.ts';

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

/** The state of the server, for its operator. */
export interface ServerState {
  readonly version: string;
  readonly started_at: string;
  readonly development: boolean;
  readonly graphs: readonly string[];
  readonly problems: readonly { readonly graph_id: string; readonly reason: string }[];
  readonly warnings: readonly string[];
  /** Empty when graphs run in the process of the server. */
  readonly workers: readonly {
    readonly pid: number | null;
    readonly load: number;
    readonly run_ids: readonly string[];
    readonly memory_bytes: number | null;
    /** Share of time, from 0 to 1. */
    readonly busy: number | null;
    readonly stalled_ms: number;
  }[];
  readonly queue: {
    readonly pending: number;
    readonly running: number;
    readonly max_running: number;
    readonly longest_wait_secs: number | null;
  };
  readonly log: { readonly folder: string; readonly place: string; readonly bytes: number };
  readonly settings: readonly { readonly name: string; readonly value: Json }[];
}

export const serverState = (): Promise<ServerState> => ask('/server');
