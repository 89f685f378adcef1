/** In `dev`: what the last save did to the recorded runs of this thread. */
import type { Report } from '../api/runs.ts';
import { verdicts } from '../model/verdicts.ts';
import { hrefOf } from '../model/route.ts';
import type { OpenThread } from '../model/thread.ts';
import { clock } from '../model/words.ts';
import { Status } from './status.tsx';

export function VerdictLine({ open }: { readonly open: OpenThread }) {
  const verdict = verdicts.value.find(({ thread_id: id }) => id === open.id);
  if (verdict === undefined) return null;
  return (
    <a
      class="verdict"
      href={hrefOf('/compare', { thread: open.id, run: verdict.run_id })}
      title={differenceText(verdict)}
    >
      save {verdict.at !== undefined && clock(verdict.at)} <Status status={verdict.verdict} />
    </a>
  );
}

export function differenceText({ comparison, reasons, request }: Report): string {
  const found = comparison?.divergence;
  if (found !== undefined)
    return [
      ...(found.step === undefined || found.step >= Number.MAX_SAFE_INTEGER ? [] : [`step ${found.step}`]),
      ...(found.node ? [`node ${found.node}`] : []),
      ...(found.channel === undefined
        ? [found.what]
        : [`${found.channel}${found.path ? ` ${found.path}` : ''}`]),
    ].join(', ');
  if (request !== undefined)
    return `${request.task} asks for something else${request.path === undefined ? '' : `: ${request.path}`}`;
  return (reasons ?? []).join('; ');
}
