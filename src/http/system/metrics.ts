/**
 * Metrics of `GET /metrics`, which needs no authentication and shows no data of users:
 *
 * - `rewound_runs{status}`: existing runs, by status
 * - `rewound_runs_queued`: pending runs that could start now
 * - `rewound_webhook_deliveries{status}`: `owed` ones are still to be delivered
 * - `rewound_stream_readers`: replies that wait for a run
 * - `rewound_open_connections`: open client sockets
 * - `rewound_http_requests_total{method,path,status}`, `rewound_http_request_seconds_total{…}`: by route, until the reply starts
 * - `process_resident_memory_bytes`, `process_heap_bytes`, `process_cpu_seconds_total`, `process_uptime_seconds`
 * - `nodejs_eventloop_delay_seconds{stat}`: `mean`, `p99`, `max` since the previous reading
 */
import type { Json, JsonObject } from '../../kernel/json.ts';
import { dueTime, type Clock } from '../../kernel/clock.ts';
import { PRODUCT } from '../../kernel/product.ts';
import type { LoopDelay } from '../../kernel/loop-delay.ts';
import type { RequestCount } from './request-metrics.ts';
import type { Counts, Views } from '../../store/port/views/views.ts';

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly samples: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

/** Figures for load balancers and autoscalers, in the form of the official server. */
interface Load {
  readonly queue: JsonObject;
  readonly api: JsonObject;
  readonly workers: JsonObject;
}

export interface Reading {
  readonly metrics: readonly Metric[];
  readonly load: Load;
}

export interface Metrics {
  /** The metrics, at most `FRESH_MS` old. Rejects with `SearchRefused`. */
  read(): Promise<Reading>;
}

export interface MetricsOptions {
  readonly views: Views;
  readonly clock: Clock;
  readonly loopDelay: LoopDelay;
  readonly readers: () => number;
  readonly connections: () => Promise<number>;
  readonly requests: () => readonly RequestCount[];
  /** Maximum number of concurrent runs. */
  readonly concurrency: number;
}

/** Cache lifetime: the route is public, and counting occupies the reader thread. */
const FRESH_MS = 2_000;

const RUN_STATUSES = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted'];
const DELIVERY_STATUSES = ['owed', 'delivered', 'failed'];

export function createMetrics(options: MetricsOptions): Metrics {
  const { views, clock, loopDelay } = options;
  let latest: { readonly at: number; readonly reading: Promise<Reading> } | undefined;

  async function collect(): Promise<Reading> {
    const counts = await views.inventory.counts(dueTime(clock));
    const { runs, queued, deliveries } = counts;
    const connections = await options.connections();
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const gauge = (name: string, help: string, value: number): Metric => ({
      ...{ name, help, type: 'gauge' },
      samples: [{ labels: {}, value }],
    });
    const family = (name: string, help: string, label: string, values: Record<string, number>): Metric => ({
      ...{ name, help, type: 'gauge' },
      samples: Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value })),
    });
    const metrics: readonly Metric[] = [
      family(`${PRODUCT}_runs`, 'Runs by status.', 'status', withZeros(RUN_STATUSES, runs)),
      gauge(`${PRODUCT}_runs_queued`, 'Pending runs that could start now.', queued),
      family(
        `${PRODUCT}_webhook_deliveries`,
        'Webhook deliveries by status.',
        'status',
        withZeros(DELIVERY_STATUSES, deliveries),
      ),
      gauge(`${PRODUCT}_stream_readers`, 'Replies that wait for a run.', options.readers()),
      gauge(`${PRODUCT}_open_connections`, 'Sockets of clients.', connections),
      ...requestFamilies(options.requests()),
      gauge('process_resident_memory_bytes', 'Memory of the process.', rss),
      gauge('process_heap_bytes', 'Used heap of the main thread.', heapUsed),
      {
        ...gauge('process_cpu_seconds_total', 'Processor time, of user and system.', (user + system) / 1e6),
        type: 'counter',
      },
      gauge('process_uptime_seconds', 'Time since the process started.', process.uptime()),
      family('nodejs_eventloop_delay_seconds', 'How late the event loop was.', 'stat', {
        ...loopDelay.read(),
      }),
    ];
    return { metrics, load: loadOf(counts) };
  }

  function loadOf({ runs, pending }: Counts): Load {
    const now = clock.now();
    const secondsSince = (time: number | null): number | null =>
      time === null ? null : Math.max(0, now - time) / 1000;
    const running = runs['running'] ?? 0;
    return {
      queue: {
        n_pending: runs['pending'] ?? 0,
        n_running: running,
        pending_runs_wait_time_max_secs: secondsSince(pending.oldest),
        pending_runs_wait_time_med_secs: secondsSince(pending.median),
        pending_unblocked_runs_wait_time_max_secs: secondsSince(pending.oldestUnblocked),
      },
      api: {
        http_requests_total: options
          .requests()
          .map(({ method, path, status, count }) => ({ method, path, status, count })),
      },
      workers: {
        max: options.concurrency,
        active: running,
        available: Math.max(0, options.concurrency - running),
      },
    };
  }

  return {
    read() {
      const now = clock.monotonic();
      if (latest === undefined || now - latest.at >= FRESH_MS) {
        const made = { at: now, reading: collect() };
        latest = made;
        made.reading.catch(() => {
          if (latest === made) latest = undefined;
        });
      }
      return latest.reading;
    },
  };
}

function requestFamilies(counts: readonly RequestCount[]): readonly Metric[] {
  const family = (name: string, help: string, valueOf: (count: RequestCount) => number): Metric => ({
    ...{ name: `${PRODUCT}_${name}`, help, type: 'counter' },
    samples: counts.map((count) => {
      const { method, path, status } = count;
      return { labels: { method, path, status: String(status) }, value: valueOf(count) };
    }),
  });
  return [
    family('http_requests_total', 'Requests by method, route and status.', ({ count }) => count),
    family(
      'http_request_seconds_total',
      'Sum of their latencies until the reply began.',
      ({ seconds }) => seconds,
    ),
  ];
}

const withZeros = (known: readonly string[], found: Readonly<Record<string, number>>) => ({
  ...Object.fromEntries(known.map((name) => [name, 0])),
  ...found,
});

/** Prometheus text format 0.0.4. Label values are not escaped: all come from this program. */
export function toPrometheus({ metrics }: Reading): string {
  const lines = metrics.flatMap(({ name, help, type, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels, value }) => {
      const pairs = Object.entries(labels).map(([key, text]) => `${key}="${text}"`);
      return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
    }),
  ]);
  return `${lines.join('\n')}\n`;
}

/**
 * The load, and each metric by its name: a number, or an object of numbers whose keys are label values joined by spaces.
 */
export function toJsonMetrics({ metrics, load }: Reading): JsonObject {
  const byName = Object.fromEntries(
    metrics.map(({ name, samples }): [string, Json] => {
      const byLabel = samples.map(
        ({ labels, value }) => [Object.values(labels).join(' ') || undefined, value] as const,
      );
      return [name, byLabel[0]?.[0] === undefined ? (byLabel[0]?.[1] ?? 0) : Object.fromEntries(byLabel)];
    }),
  );
  return { ...load, ...byName };
}
