/** What may differ between a run of the library alone and one on the server. */

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|\+00:00)/g;

/** Deliberate: metadata and configuration that the platform adds to a run's own. */
const PLATFORM_KEYS: ReadonlySet<string> = new Set([
  ...['assistant_id', 'graph_id', 'run_id', 'thread_id', 'created_by', 'run_attempt', 'user_id'],
  ...['langgraph_version', 'langgraph_plan', 'langgraph_host', 'langgraph_api_url', 'langgraph_request_id'],
  ...['langgraph_auth_user', 'langgraph_auth_user_id', 'langgraph_auth_permissions'],
  ...['platform_auth_user', '__request_start_time_ms__', 'ls_integration'],
]);

/** Deliberate: the name of an error in `tasks` and `debug` stands where the official server has it. */
const ERROR_NAME = 'error';

/** Deliberate: checkpoints of subgraphs name those of all graphs around them, as the official server tells them. */
const PLACES = 'checkpoint_map';

/**
 * Deliberate: what a graph's own `withConfig` says stands in the metadata of its checkpoints, and no key of
 * `configurable` that the client has not sent is shown.
 */
const OWN_CONFIG: Readonly<Record<string, readonly string[]>> = {
  metadata: ['lc_agent_name', 'ls_agent_type', 'own'],
  configurable: ['ls_agent_type'],
};

export interface Masked {
  /**
   * Deliberate: the keys of a run's `configurable` and `context` stand in either of the two and in the metadata of
   * its checkpoints.
   */
  readonly configured: readonly string[];
  /** Deliberate: a saver of the older lines forgets the usage of a message, the server does not. */
  readonly withoutUsage: boolean;
}

/** Ids become their ordinal within the value, so that what was equal stays equal; times become one word. */
export function mask(value: unknown, { configured, withoutUsage }: Masked): unknown {
  const ordinals = new Map<string, number>();
  const maskText = (text: string): string =>
    text
      .replaceAll(ID, (id) => {
        if (!ordinals.has(id)) ordinals.set(id, ordinals.size + 1);
        return `<id ${ordinals.get(id)}>`;
      })
      .replaceAll(TIME, '<time>');
  const isMasked = (key: string, path: readonly string[]): boolean =>
    PLATFORM_KEYS.has(key) ||
    key === PLACES ||
    key.startsWith('__pregel') ||
    (withoutUsage && key === 'usage_metadata') ||
    OWN_CONFIG[path.at(-1) ?? '']?.includes(key) === true ||
    (configured.includes(key) && ['metadata', 'configurable'].includes(path.at(-1) ?? ''));
  const maskAny = (each: unknown, path: readonly string[]): unknown => {
    if (typeof each === 'string') return maskText(each);
    if (Array.isArray(each)) return each.map((one) => maskAny(one, path));
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(
      Object.keys(each)
        .filter((key) => !isMasked(key, path))
        .sort()
        .map((key) => [
          path.at(-1) === 'error' && key === 'name' ? ERROR_NAME : maskText(key),
          maskAny((each as Record<string, unknown>)[key], [...path, key]),
        ]),
    );
  };
  return maskAny(value, []);
}

/** A difference that is meant: differences whose text begins with `place` are not told. */
interface Deliberate {
  readonly place: string;
  readonly why: string;
}

export const DELIBERATE: readonly Deliberate[] = [
  {
    place: 'many-interrupts-survey, step 5 (state)',
    why: 'The library counts a task with an answer and a further question as done, and shows answered questions.',
  },
  {
    place: 'many-interrupts-survey, step 8 (wait).__interrupt__',
    why: 'Questions come in the order of the tasks; the library tells them as they were asked.',
  },
  {
    place: 'features-private, step 5 (wait).__interrupt__',
    why: 'A run that stops before a node has asked nothing, and its answer has no list of questions; the library adds an empty one.',
  },
];
