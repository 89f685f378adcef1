/** Maps a path to its route group: `http.disable_<group>` in the configuration disables whole groups. */
import type { Group } from '../config/http.ts';

const META_PATHS: ReadonlySet<string> = new Set(['/', '/info', '/metrics', '/docs', '/openapi.json']);
/** Segments after `/threads/{id}` that belong to the group `runs`. */
const RUN_SEGMENTS: ReadonlySet<string> = new Set(['runs', 'stream', 'commands']);

/** `path` has no mount prefix and the alias `/thread` is rewritten. Undefined for a path that cannot be disabled. */
export function groupOf(path: string): Group | undefined {
  if (META_PATHS.has(path)) return 'meta';
  const [, first, second, third, fourth] = path.split('/');
  switch (first) {
    case 'threads':
      if (third === 'runs' && fourth === 'crons') return 'crons';
      return RUN_SEGMENTS.has(third ?? '') ? 'runs' : 'threads';
    case 'webhooks':
      return 'runs';
    case '.well-known':
      return 'a2a';
    case 'runs':
      return second === 'crons' ? 'crons' : 'runs';
    case 'opened':
      return 'studio';
    case 'assistants':
    case 'store':
    case 'mcp':
    case 'a2a':
    case 'ui':
    case 'studio':
      return first;
    default:
      return undefined;
  }
}
