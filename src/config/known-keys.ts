/** Warnings about keys of the configuration file that have no effect: an ignored setting is a trap. */
import { z } from 'zod';
import { configFile } from './file.ts';

/** Keys that this server reads, as dotted paths: those of the schema, down to what is no object of named keys. */
function keysOf(schema: z.core.$ZodType, path: string): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault)
    return keysOf(schema.unwrap(), path);
  if (!(schema instanceof z.ZodObject) || path === OPENAPI) return [path];
  return Object.entries(schema.shape).flatMap(([key, value]) =>
    keysOf(value as z.core.$ZodType, path === '' ? key : `${path}.${key}`),
  );
}
/** Taken as it is, with whatever else stands in it. */
const OPENAPI = 'auth.openapi';
const READ = keysOf(configFile, '');

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
