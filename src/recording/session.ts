/**
 * The session of the run that the current code belongs to: a recorder while it is recorded, a player while it is
 * executed again. Interceptors ask for it at each call; code outside of a session runs as if nothing were installed.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { nodePathOf, UUIDS } from '../kernel/embedded-ids.ts';
import type { RecordedAnswer, RecordedFailure, TaskKey } from './parts.ts';
import type { Random } from './random.ts';

/** Observes one exchange while a run is recorded. */
export interface Exchange {
  sent(chunk: Uint8Array): void;
  answered(status: number, statusText: string | undefined, headers: RecordedAnswer['headers']): void;
  received(chunk: Uint8Array): void;
  ended(failure?: RecordedFailure): void;
}

export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly contentType?: string | undefined;
}

/** What a player does with a request: answer it, let it fail, or let it go to the real network. */
export type Reply =
  | { readonly kind: 'answer'; readonly answer: RecordedAnswer; readonly failure?: RecordedFailure }
  | { readonly kind: 'failure'; readonly failure: RecordedFailure }
  | { readonly kind: 'live' };

interface Shared {
  /** Random values of the current task; undefined outside of tasks, where the real ones are drawn. */
  random(): Random | undefined;
  /** Set when the graph's library is known: its config of the current task. */
  configOf: (() => unknown) | undefined;
}

export interface RecordingSession extends Shared {
  readonly mode: 'record';
  /** Undefined for requests that are not recorded. */
  open(request: OutgoingRequest): Exchange | undefined;
  unrecorded(what: string): void;
}

export interface ReplaySession extends Shared {
  readonly mode: 'replay';
  reply(request: OutgoingRequest, body: Uint8Array): Reply;
  /** Milliseconds since 1970. */
  now(): number;
  /** Called before graph code opens a socket or child process; throws unless that is allowed. */
  closed(what: string): void;
}

export type Session = RecordingSession | ReplaySession;

const sessions = new AsyncLocalStorage<Session>();
const transport = new AsyncLocalStorage<true>();

export const currentSession = (): Session | undefined => sessions.getStore();
export const insideSession = <T>(session: Session, work: () => T): T => sessions.run(session, work);

/** Marks the sockets that `work` opens as those of a request that a session knows. */
export const inTransport = <T>(work: () => T): T => transport.run(true, work);
export const isInTransport = (): boolean => transport.getStore() === true;

interface TaskConfig {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly configurable?: Readonly<Record<string, unknown>>;
}

/** The key of the task whose config this is; empty outside of tasks. */
export function taskKeyOf(config: unknown): TaskKey {
  const { metadata = {}, configurable = {} } = (config ?? {}) as TaskConfig;
  const step = metadata['langgraph_step'];
  if (step === undefined) return '';
  const ns = metadata['langgraph_checkpoint_ns'] ?? configurable['checkpoint_ns'] ?? '';
  const path = nodePathOf(String(ns)) || String(metadata['langgraph_node'] ?? '');
  const place = JSON.stringify(metadata['langgraph_path'] ?? null).replace(UUIDS, '');
  // The position separates parallel tasks of one node.
  return `${String(step)} ${path}${place.includes('__pregel_push') ? ` ${place}` : ''}`;
}
