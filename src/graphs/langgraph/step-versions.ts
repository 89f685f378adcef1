/**
 * Gives all channels of a step the same version. The runtime treats channels of equal version as changed in one step, and
 * by that finds the nodes that ran last; it refuses a state edit that could belong to several. The runtime calls `bind`
 * once per use of a graph, so each bound function keeps its own last version. P3 Other uses get other versions, even
 * concurrently and from the same checkpoint.
 */
import type { Ids } from '../../kernel/ids.ts';
import { nextVersion } from '../versions.ts';

type NextVersion = (current: string | number | undefined) => string;

export function stepVersions(ids: Ids): NextVersion {
  const next: NextVersion = (current) => nextVersion(current, ids);
  const bind = (): NextVersion => {
    let last: { readonly current: string | number | undefined; readonly version: string } | undefined;
    return (current) => {
      if (last === undefined || last.current !== current) last = { current, version: next(current) };
      return last.version;
    };
  };
  return Object.assign(next, { bind });
}
