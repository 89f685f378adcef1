/**
 * The runtime takes channels of one version as changed in one step, and whoever has seen the same version as among the
 * last to run: an edit of the state that could be of several nodes is refused by that. It binds the method once for each
 * use of a graph, so what is bound gives all channels of a step the same version. P3 What others bind, also beside it
 * and from the same checkpoint, gives versions of its own.
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
