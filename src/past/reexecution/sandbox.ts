/**
 * The process of re-executions: loads the project's graphs under a player, with network and child processes closed and
 * the recorded environment. Danger: it changes globals of the process, so a server never opens one.
 */
import { openInProcessGraphs, type InProcessGraphs } from '../../graphs/in-process.ts';
import { loadGraphs, type GraphSpec } from '../../graphs/loader.ts';
import { systemClock, type Clock } from '../../kernel/clock.ts';
import { randomIds } from '../../kernel/ids.ts';
import { SERVER_URL } from '../../kernel/server-address.ts';
import { interceptClock } from '../../recording/clock.ts';
import { interceptDispatchers, interceptFetch } from '../../recording/dispatchers.ts';
import { interceptNodeHttp } from '../../recording/node-http.ts';
import { closeOutside } from '../../recording/outside.ts';
import type { Player } from '../../recording/player.ts';
import { interceptRandomness } from '../../recording/randomness.ts';
import { insideSession } from '../../recording/session.ts';

export interface Sandbox {
  readonly clock: Clock;
  /** Sets the environment of the player's run and loads its graph; a text says why it does not load. */
  open(player: Player, graphId: string): Promise<InProcessGraphs | string>;
}

/** `env`: variables that override those of recordings. */
export function openSandbox(
  graphs: readonly GraphSpec[],
  env: Readonly<Record<string, string>> = {},
): Sandbox {
  const clock = systemClock();
  const ids = randomIds(clock);
  const opened = new Map<string, InProcessGraphs>();
  interceptRandomness();
  interceptClock();
  interceptFetch();
  interceptNodeHttp();
  closeOutside();
  return {
    clock,
    async open(player, graphId) {
      const spec = graphs.find(({ id }) => id === graphId);
      if (spec === undefined) return `the configuration has no graph "${graphId}"`;
      setEnvironment(process.env, player, env);
      const known = opened.get(graphId);
      if (known !== undefined) return known;
      interceptDispatchers();
      const loaded = await insideSession(player, () => player.load(() => loadGraphs([spec])));
      const [problem] = loaded.problems;
      if (problem !== undefined) return `the graph "${graphId}" does not load: ${problem.reason}`;
      // User code may have set dispatchers of its own.
      interceptDispatchers();
      const made = openInProcessGraphs({ ...loaded, ids, clock });
      opened.set(graphId, made);
      return made;
    },
  };
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
