/**
 * A real server in this process: real log, real sockets, real graphs. When it stops, its log is verified
 * (P2, L2, snapshots, machines), so every test that uses it checks those too.
 */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/config.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { RequestLine } from '../../src/http/request-log.ts';
import type { Recorded } from '../../src/store/port/events.ts';
import type { Entry } from '../../src/observe/entry.ts';
import { startServer, type RunningServer } from '../../src/serve.ts';
import type { BodyOf } from './api-types.ts';
import { layEmptyLog } from './empty-log.ts';
import { assertVerified } from './assert-verified.ts';
import { withTempDir } from './temp-dir.ts';
import { leaveSchema, newDatabaseUrl } from './test-database.ts';

export const PROJECT = fileURLToPath(new URL('../fixtures/project/', import.meta.url));

export interface TestServerOptions {
  /** Configuration file; the fixture project's unless told otherwise. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Changes to what was loaded. */
  readonly overrides?: Partial<Config>;
  readonly clock?: Clock;
  /** Faults are collected; a test that expects some looks at them itself. */
  readonly allowFaults?: boolean;
  /** Graph workers; by default what the variable TEST_WORKERS says, and else none, which is quicker. */
  readonly workers?: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body, undefined when it is no JSON. Untyped, because its shape is what tests assert. */
  readonly json: any;
}

export interface TestServer {
  readonly url: string;
  readonly dir: string;
  readonly client: Client;
  readonly server: RunningServer;
  /** What the file and the environment say, without overrides. */
  readonly config: Config;
  readonly faults: readonly unknown[];
  /** What the start warned of. */
  readonly warnings: readonly string[];
  /** The request log. */
  readonly requests: readonly RequestLine[];
  /** What the server said about its own work. */
  readonly entries: readonly Entry[];
  /** The body is checked against the OpenAPI document; one that is wrong on purpose is given `as any`. */
  request<const Method extends string, const Path extends string>(
    method: Method,
    path: Path,
    body?: BodyOf<Method, Path>,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Resolves with the first event, already recorded or to come, for which `wanted` is true. */
  until(wanted: (event: Recorded) => boolean): Promise<Recorded>;
  events(): Promise<Recorded[]>;
  /** Stops and starts again on the same data. */
  restart(overrides?: Partial<Config>): Promise<void>;
  stop(): Promise<void>;
}

export async function withServer<T>(
  options: TestServerOptions,
  use: (server: TestServer) => Promise<T>,
): Promise<T> {
  return withTempDir(async (dir) => {
    const faults: unknown[] = [];
    const warnings: string[] = [];
    const requests: RequestLine[] = [];
    const entries: Entry[] = [];
    const data = join(dir, 'data');
    const databaseUrl = newDatabaseUrl();
    if (databaseUrl === undefined) await layEmptyLog(data);
    let configured: Config | undefined;
    const start = (more: Partial<Config> = {}): Promise<RunningServer> => {
      const loaded = loadConfig(
        { config: options.config ?? join(PROJECT, 'platform.json'), port: '0', data },
        {
          PLATFORM_WORKERS: String(options.workers ?? workersByDefault(options)),
          // Whoever is slow to stop on a busy machine does not ignore its signal.
          PLATFORM_STOP_GRACE_SECS: '5',
          ...(databaseUrl && { PLATFORM_DATABASE_URL: databaseUrl }),
          ...options.env,
        },
        dir,
      );
      configured = { ...loaded, ...options.overrides, ...more };
      return startServer(configured, {
        ...(options.clock && { clock: options.clock }),
        onFault: (error) => faults.push(error),
        onWarning: (text) => warnings.push(text),
        logsRequests: true,
        onEntry(entry) {
          entries.push(entry);
          if (entry.message === 'request') requests.push(entry.members as unknown as RequestLine);
        },
        onPoisoned: (cause) => faults.push(new Error(cause)),
      });
    };
    let server = await start();
    const testServer: TestServer = {
      dir,
      faults,
      warnings,
      requests,
      entries,
      get server() {
        return server;
      },
      get config() {
        assert.ok(configured);
        return configured;
      },
      get url() {
        return server.url;
      },
      get client() {
        return new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
      },
      request: (method, path, body, headers) => ask(server.url, method, path, body, headers),
      until: (wanted) => until(server, wanted),
      events: () => readEvents(server),
      async restart(more) {
        await server.stop();
        server = await start(more);
      },
      stop: () => server.stop(),
    };
    try {
      const result = await use(testServer);
      if (options.allowFaults !== true) assert.deepEqual(faults, []);
      return result;
    } finally {
      await server.stop();
      await assertVerified(databaseUrl ?? data, configured?.encryptionKeys);
      if (databaseUrl !== undefined) await leaveSchema(databaseUrl);
    }
  });
}

/** A clock of the test's own stands still for graphs in this thread only. */
const workersByDefault = ({ clock }: TestServerOptions): string =>
  clock === undefined ? (process.env['TEST_WORKERS'] ?? '0') : '0';

async function ask(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && {
      body: raw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body),
    }),
  });
  const text = await response.text();
  const { status } = response;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status, headers: response.headers, text, json };
}

async function readEvents(server: RunningServer): Promise<Recorded[]> {
  const events: Recorded[] = [];
  for (;;) {
    const page = await server.log.readAll(events.at(-1)?.meta.position ?? 0, 500);
    if (page.length === 0) return events;
    events.push(...page);
  }
}

function until(server: RunningServer, wanted: (event: Recorded) => boolean): Promise<Recorded> {
  return new Promise((resolve, reject) => {
    const look = (events: readonly Recorded[]): void => {
      const found = events.find(wanted);
      if (found === undefined) return;
      unsubscribe();
      resolve(found);
    };
    const unsubscribe = server.log.onCommitted((notice) => look(notice.events));
    readEvents(server).then(look, reject);
  });
}
