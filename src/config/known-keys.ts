/** Warnings about keys of the configuration file that have no effect: an ignored setting is a trap. */
import { HTTP_KEYS } from './http.ts';
import { WEBHOOK_KEYS } from './webhooks.ts';

/** Keys that this server reads, as dotted paths. */
const READ = [
  'dependencies',
  'graphs',
  'env',
  'auth.path',
  'auth.openapi',
  'auth.disable_studio_auth',
  'auth.cache.cache_keys',
  'auth.cache.ttl_seconds',
  'auth.cache.max_size',
  ...HTTP_KEYS,
  ...WEBHOOK_KEYS,
  'store.index.dims',
  'store.index.embed',
  'store.index.fields',
  'crons.catch_up',
  'crons.catch_up_limit',
  'checkpointer.ttl.strategy',
  'checkpointer.ttl.default_ttl',
  'checkpointer.ttl.sweep_interval_minutes',
  'checkpointer.ttl.sweep_limit',
  'store.ttl.refresh_on_read',
  'store.ttl.default_ttl',
  'store.ttl.sweep_interval_minutes',
];

/** Keys for tools that build images of the project or run it elsewhere. */
const ELSEWHERE = [
  '$schema',
  '_INTERNAL_docker_tag',
  'api_version',
  'base_image',
  'docker_compose_file',
  'image_distro',
  'keep_pkg_tools',
  'node_loader',
  'node_version',
  'pip_config_file',
  'pip_installer',
  'python_version',
  'source',
];

/** Documented keys that ask for something that is not here. */
const UNSUPPORTED = [
  'auth.allow_langsmith_api_keys',
  'checkpointer.backend',
  'checkpointer.path',
  'checkpointer.serde',
  'dockerfile_lines',
  'encryption',
  'ui',
  'ui_config',
];

const KNOWN: ReadonlySet<string> = new Set([...READ, ...ELSEWHERE]);
/** All names that a key may have been meant as, parents too. */
const NAMES = [
  ...new Set(
    [...READ, ...ELSEWHERE, ...UNSUPPORTED].flatMap((path) =>
      path.split('.').map((_, i, parts) => parts.slice(0, i + 1).join('.')),
    ),
  ),
];

/** One line for each key without effect. */
export function keyWarnings(file: Record<string, unknown>, prefix = ''): string[] {
  return Object.entries(file).flatMap(([key, value]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    if (KNOWN.has(path)) return [];
    if (UNSUPPORTED.includes(path))
      return asksForNothing(value) ? [] : [`${path} is not supported and has no effect`];
    const isParent = NAMES.includes(path);
    if (isParent && typeof value === 'object' && value !== null)
      return keyWarnings(value as Record<string, unknown>, path);
    const meant = nearest(path);
    return [`${path} is unknown and has no effect${meant === undefined ? '' : `; did you mean "${meant}"?`}`];
  });
}

const asksForNothing = (value: unknown): boolean =>
  value === null ||
  value === false ||
  value === '' ||
  value === 'default' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** The known name with the fewest edits, if those are few for its length. */
function nearest(path: string): string | undefined {
  const [best] = NAMES.map((name) => ({ name, edits: editsBetween(path, name) })).sort(
    (a, b) => a.edits - b.edits,
  );
  return best !== undefined && best.edits <= Math.max(2, path.length / 4) ? best.name : undefined;
}

/** Levenshtein distance. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (letter === b[j] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
