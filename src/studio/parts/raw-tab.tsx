/** The fact and the state as JSON, as the API has them. */
import type { Moment } from '../model/moment.ts';
import { toClipboard } from '../model/actions.ts';
import type { OpenThread } from '../model/thread.ts';
import { act } from '../model/notices.ts';
import { Members } from './tree.tsx';
import type { Json } from '../api/types.ts';

export function RawTab({ open, moment }: { readonly open: OpenThread; readonly moment: Moment }) {
  const fact = open.story.at(open.version.value);
  const state = moment.state.value;
  const factJson = fact as unknown as Json;
  return (
    <div class="raw">
      {fact !== undefined && (
        <section>
          <h3>
            {fact.type}
            <CopyButton value={factJson} />
          </h3>
          <Members value={factJson} />
        </section>
      )}
      {state !== undefined && (
        <section>
          <h3>
            Values
            <CopyButton value={state.values} />
          </h3>
          <Members value={state.values} />
        </section>
      )}
    </div>
  );
}

function CopyButton({ value }: { readonly value: Json }) {
  return (
    <button
      type="button"
      onClick={() => void act('copy raw', () => toClipboard(JSON.stringify(value, null, 2), 'The JSON'))}
    >
      Copy
    </button>
  );
}
