/** Verdicts of saves on recorded runs, which servers of `dev` have. */
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

/** All verdicts of saves, newest first. */
export function VerdictList() {
  if (verdicts.value.length === 0) return null;
  return (
    <section>
      <h2>Saves against earlier runs</h2>
      <table>
        <tbody>
          {verdicts.value.slice(0, SHOWN_VERDICTS).map((each) => (
            <tr key={`${each.run_id} ${each.at}`}>
              <td>{each.at !== undefined && clock(each.at)}</td>
              <td>
                <a href={hrefOf('/compare', { thread: each.thread_id, run: each.run_id })}>{each.graph_id}</a>
              </td>
              <td>
                <Status status={each.verdict} />
              </td>
              <td class="quiet">{differenceText(each)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const SHOWN_VERDICTS = 20;
