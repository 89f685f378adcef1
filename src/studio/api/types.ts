/** Objects of the public API, as far as the studio reads them. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export type ThreadStatus = 'idle' | 'busy' | 'interrupted' | 'error';
export type RunStatus = 'pending' | 'running' | 'success' | 'error' | 'timeout' | 'interrupted';

export interface RunError {
  readonly error: string;
  readonly message: string;
}

export interface Question {
  readonly id?: string;
  readonly value: Json;
  readonly response_schema?: JsonObject;
}

export interface Thread {
  readonly thread_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly metadata: JsonObject;
  readonly title?: string;
  readonly status: ThreadStatus;
  readonly interrupts: Readonly<Record<string, readonly Question[]>>;
  readonly error?: RunError | null;
}

export interface Usage {
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

export interface Run {
  readonly run_id: string;
  readonly thread_id: string;
  readonly assistant_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly status: RunStatus;
  readonly metadata: JsonObject;
  readonly kwargs: JsonObject;
  readonly cancel_reason: string | null;
  readonly usage?: Usage;
  readonly error?: RunError;
}

export interface Checkpoint {
  readonly checkpoint_id?: string | null;
  readonly checkpoint_ns: string;
}

export interface Assistant {
  readonly assistant_id: string;
  readonly graph_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly version: number;
}

export interface Drawing {
  readonly nodes: readonly { readonly id: string; readonly type: string; readonly data?: Json }[];
  readonly edges: readonly {
    readonly source: string;
    readonly target: string;
    readonly conditional?: boolean;
    readonly data?: string;
  }[];
}

export interface Schemas {
  readonly graph_id: string;
  readonly input_schema: JsonObject | null;
  readonly state_schema: JsonObject | null;
}

/** A difference between a run and its re-execution, or between two runs. */
export interface StateDifference {
  readonly channel: string;
  readonly path: string;
  readonly a?: Json;
  readonly b?: Json;
}

export interface ComparedRun {
  readonly run_id: string;
  readonly thread_id: string;
  readonly graph_id: string;
  readonly status: RunStatus;
  readonly attempts: number;
  readonly steps: number;
  readonly took_ms: number | null;
  readonly tokens: { readonly total: number } | null;
  readonly error: string | null;
}

export interface ComparedStep {
  readonly graph: string;
  readonly step: number;
  readonly source: string;
  readonly nodes: readonly string[];
  readonly took_ms: number | null;
}

export interface RunDiff {
  readonly equal: boolean;
  readonly a: ComparedRun;
  readonly b: ComparedRun;
  readonly first: {
    readonly what: 'input' | 'step' | 'state' | 'end';
    readonly index: number | null;
    readonly difference: StateDifference | null;
  } | null;
  readonly steps: readonly { readonly a: ComparedStep | null; readonly b: ComparedStep | null }[];
  readonly state: readonly StateDifference[];
}

export interface Webhook {
  readonly webhook_id: string;
  readonly run_id: string;
  readonly thread_id: string;
  readonly url: string;
  readonly state: 'owed' | 'delivered' | 'failed';
  readonly created_at: string;
  readonly next_attempt_at: string | null;
  readonly attempts: readonly {
    readonly at: string;
    readonly status: number | null;
    readonly error?: string | null;
  }[];
}

export interface Cron {
  readonly cron_id: string;
  readonly assistant_id: string;
  readonly thread_id: string | null;
  readonly schedule: string;
  readonly timezone: string | null;
  readonly enabled: boolean;
  readonly next_run_date: string | null;
  readonly refused?: { readonly slot: string; readonly reason: string };
  readonly payload: JsonObject;
}
