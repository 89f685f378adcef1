/**
 * The process of re-executions: loads the project's graphs under a player, with everything closed that reaches outside,
 * and with the recorded environment. Danger: it changes globals of the process, so a server never opens one.
 */
import { openInProcessGraphs, type InProcessGraphs } from '../../graphs/in-process.ts';
import { findLibraries } from '../../graphs/library-versions.ts';
import type { OnNodes } from '../../graphs/node-functions.ts';
import { loadGraphs, type GraphSpec } from '../../graphs/loader.ts';
import { systemClock, type Clock } from '../../kernel/clock.ts';
import { randomIds } from '../../kernel/ids.ts';
import { SERVER_URL } from '../../kernel/server-address.ts';
import { interceptClock } from '../../recording/clock.ts';
import { interceptDispatchers, interceptFetch } from '../../recording/dispatchers.ts';
import { interceptNodeHttp } from '../../recording/node-http.ts';
import { watchOutside } from '../../recording/outside.ts';
import type { Player } from '../../recording/player.ts';
import { interceptRandomness } from '../../recording/randomness.ts';
import { setProcessSession } from '../../recording/session.ts';
import { interceptTimers } from '../../recording/timers.ts';
import { interceptWork } from '../../recording/open-work.ts';

/** Takes the errors of a run that nothing catches. */
export interface Faults {
  /** Ends the run with the error. */
  fail(error: unknown): void;
  /** The recorded run ended with the error. */
  isRecorded(error: unknown): boolean;
}

export interface Process {
  /** Called when graph code is refused something after its run has ended. */
  onLate(what: string): void;
  /** Calls `work`, and `faults` with the errors that nothing catches. */
  during<T>(faults: Faults, work: () => Promise<T>): Promise<T>;
}

export interface Sandbox extends Process {
  readonly clock: Clock;
  /** What modules were refused while they loaded: it counts for every run of the process. */
  readonly refusedAtLoad: Set<string>;
  /** Sets the environment of the player's run and loads its graph; a text says why it does not load. */
  open(player: Player, graphId: string, onNodes: OnNodes): Promise<InProcessGraphs | string>;
}

/** A process that others use as well: errors that nothing catches are its own. */
const SHARED: Process = { onLate: () => undefined, during: (_, work) => work() };

/** `env`: variables that override those of recordings. */
export function openSandbox(
  graphs: readonly GraphSpec[],
  env: Readonly<Record<string, string>>,
  own = SHARED,
): Sandbox {
  const clock = systemClock();
  const ids = randomIds(clock);
  const opened = new Map<string, InProcessGraphs>();
  let onNodes: OnNodes = () => undefined;
  interceptRandomness();
  interceptClock();
  interceptTimers();
  interceptWork();
  interceptFetch();
  interceptNodeHttp();
  watchOutside();
  return {
    ...own,
    clock,
    refusedAtLoad: new Set(),
    async open(player, graphId, listener) {
      setProcessSession(player);
      onNodes = listener;
      const spec = graphs.find(({ id }) => id === graphId);
      if (spec === undefined) return `the configuration has no graph "${graphId}"`;
      const otherLine = otherLineOf(player, spec.file);
      if (otherLine !== undefined) return otherLine;
      setEnvironment(process.env, player, env);
      const known = opened.get(graphId);
      if (known !== undefined) return known;
      interceptDispatchers(true);
      const loaded = await player.load(() => loadGraphs([spec]));
      const [problem] = loaded.problems;
      if (problem !== undefined) return `the graph "${graphId}" does not load: ${problem.reason}`;
      // User code may have set dispatchers of its own.
      interceptDispatchers(true);
      const made = openInProcessGraphs({
        ...{ ...loaded, ids, clock },
        onNodes: (functions, isGraph) => onNodes(functions, isGraph),
      });
      opened.set(graphId, made);
      return made;
    },
  };
}

const LIBRARY = '@langchain/langgraph';

/** The library's next line may save other checkpoints for the same code. */
function otherLineOf({ start }: Player, file: string): string | undefined {
  const recorded = start?.versions[LIBRARY];
  const found = findLibraries([file])[LIBRARY];
  const lineOf = (version: string): string => version.split('.', 2).join('.');
  if (recorded === undefined || found === undefined || lineOf(recorded) === lineOf(found)) return undefined;
  return `the recording was made with ${LIBRARY} ${recorded}, and the project has ${found}`;
}

const PLACEHOLDER = 'placeholder';

/**
 * Also sets the address of the server. Variables that the process has win over the recording, and those of `given` over
 * both. A4 Stand-ins of keys win over the process's own, which only requests to the real network need.
 */
function setEnvironment(
  env: NodeJS.ProcessEnv,
  { start, live, recognise }: Player,
  given: Readonly<Record<string, string>>,
): void {
  for (const [name, value] of Object.entries(start?.env ?? {}))
    if (value !== null && env[name] !== value && KEPT.has(name)) env[name] = value;
    else env[name] ??= value ?? PLACEHOLDER;
  Object.assign(env, given);
  const own = new Map<string, string>();
  for (const [name, standIn] of Object.entries(start?.secrets.env ?? {}))
    if (Object.hasOwn(given, name) || (live && env[name] !== PLACEHOLDER)) own.set(env[name]!, standIn);
    else env[name] = standIn;
  recognise(own);
  (globalThis as { [SERVER_URL]?: string | undefined })[SERVER_URL] = start?.server;
}

/** Variables that change results, so that the recorded value wins. */
const KEPT: ReadonlySet<string> = new Set(['TZ', 'LANG']);
