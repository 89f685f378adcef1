/** Which group of the interface a path belongs to: `http.disable_<group>` takes whole groups away. */
import type { Group } from '../config/http.ts';

const META: ReadonlySet<string> = new Set(['/', '/info', '/metrics', '/docs', '/openapi.json']);
/** On a thread, what has to do with executing something there. */
const OF_RUNS: ReadonlySet<string> = new Set(['runs', 'stream', 'commands']);

/** `path` without mount prefix, the singular alias already rewritten. Undefined: it cannot be taken away. */
export function groupOf(path: string): Group | undefined {
  if (META.has(path)) return 'meta';
  const [, first, second, third, fourth] = path.split('/');
  switch (first) {
    case 'threads':
      if (third === 'runs' && fourth === 'crons') return 'crons';
      return OF_RUNS.has(third ?? '') ? 'runs' : 'threads';
    case 'webhooks':
      return 'runs';
    case '.well-known':
      return 'a2a';
    case 'runs':
      return second === 'crons' ? 'crons' : 'runs';
    case 'assistants':
    case 'store':
    case 'mcp':
    case 'a2a':
    case 'ui':
      return first;
    default:
      return undefined;
  }
}
