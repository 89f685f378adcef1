/** Warns about configuration keys without effect, since an ignored setting misleads its author. */
import { z } from 'zod';
import { configFile } from './file.ts';

/** Dotted paths of all keys in the schema, down to values that are not objects with named keys. */
function keysOf(schema: z.core.$ZodType, path: string): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault)
    return keysOf(schema.unwrap(), path);
  if (!(schema instanceof z.ZodObject) || path === OPENAPI) return [path];
  return Object.entries(schema.shape).flatMap(([key, value]) =>
    keysOf(value as z.core.$ZodType, path === '' ? key : `${path}.${key}`),
  );
}
/** Passed on unchecked, so its members are not compared with the schema. */
const OPENAPI = 'auth.openapi';
const READ = keysOf(configFile, '');

/** Keys for build and hosting tools; ignored without a warning. */
const IGNORED = [
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

/** Documented keys of other servers for features that this server lacks. */
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

const KNOWN: ReadonlySet<string> = new Set([...READ, ...IGNORED]);
/** Candidates for "did you mean": all known paths and their parents. */
const NAMES = [
  ...new Set(
    [...READ, ...IGNORED, ...UNSUPPORTED].flatMap((path) =>
      path.split('.').map((_, i, parts) => parts.slice(0, i + 1).join('.')),
    ),
  ),
];

/** Returns one line for each key without effect. */
export function keyWarnings(file: Record<string, unknown>, prefix = ''): string[] {
  return Object.entries(file).flatMap(([key, value]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    if (KNOWN.has(path)) return [];
    if (UNSUPPORTED.includes(path))
      return asksForNothing(value) ? [] : [`${path} is not supported and has no effect`];
    // The schema names a value that is no object.
    if (NAMES.includes(path))
      return typeof value === 'object' && value !== null
        ? keyWarnings(value as Record<string, unknown>, path)
        : [];
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

/** Known name with the fewest edits, if they are few for its length. */
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
