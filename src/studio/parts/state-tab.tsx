/** The values at the version that is looked at: what changed, who wrote it, and the whole tree. */
import { useState } from 'preact/hooks';
import type { Change, VersionState } from '../api/states.ts';
import type { Json } from '../api/types.ts';
import { placeOf, type Moment } from '../model/moment.ts';
import { setQuery } from '../model/route.ts';
import type { OpenThread } from '../model/thread.ts';
import { isObject, plural } from '../model/words.ts';
import { Tree } from './tree.tsx';

const FIRST_CHANGES = 60;

export function StateTab({ open, moment }: { readonly open: OpenThread; readonly moment: Moment }) {
  const state = moment.state.value;
  const problem = moment.problem.value;
  if (problem !== undefined) return <p class="calm">{problem}</p>;
  if (state === undefined) return <p class="calm">Reading the state …</p>;
  const { next, erased } = state;
  if (erased) return <p class="calm">The checkpoint of this version was deleted; its values are gone.</p>;
  return (
    <div class="state">
      <section>
        <h3>
          Changes
          <Comparison open={open} state={state} />
        </h3>
        <Changes key={state.version} state={state} open={open} />
      </section>
      <section>
        <h3>Values</h3>
        <Values open={open} state={state} written={moment.written.value} />
      </section>
      <section class="line">
        <h3>Next</h3>
        <span>{next.length === 0 ? <span class="quiet">nothing</span> : next.join(', ')}</span>
      </section>
    </div>
  );
}

interface ValuesProps {
  readonly open: OpenThread;
  readonly state: VersionState;
  readonly written: ReadonlyMap<string, number>;
}

function Values({ open, state, written }: ValuesProps) {
  const { values } = state;
  if (!isObject(values)) return <Tree value={values} open={2} />;
  const members = Object.entries(values as Readonly<Record<string, Json>>);
  if (members.length === 0) return <p class="calm">No values yet.</p>;
  return (
    <>
      {members.map(([key, value]) => (
        <Tree
          key={key}
          name={key}
          value={value}
          open={1}
          note={<Written open={open} version={written.get(key)} />}
        />
      ))}
    </>
  );
}

function Comparison({ open, state }: { readonly open: OpenThread; readonly state: VersionState }) {
  const { from, version } = state;
  return (
    <label class="compare">
      <span class="quiet">since v </span>
      <input
        key={from}
        type="number"
        min={0}
        max={version}
        aria-label="Compare with version"
        value={from ?? ''}
        onChange={(event) =>
          setQuery({ from: event.currentTarget.value || undefined, v: open.version.value })
        }
      />
    </label>
  );
}

function Written({ open, version }: { readonly open: OpenThread; readonly version: number | undefined }) {
  if (version === undefined) return null;
  return (
    <button
      type="button"
      class="written"
      title="Show the step that wrote it"
      onClick={() => open.select(version)}
    >
      written at v {version}
    </button>
  );
}

function Changes({ open, state }: { readonly open: OpenThread; readonly state: VersionState }) {
  const { changes = [], more_changes: hasMore = false, version } = state;
  const [shown, setShown] = useState(FIRST_CHANGES);
  if (changes.length === 0) return <p class="calm">No value changed.</p>;
  return (
    <ul class="changes">
      {changes.slice(0, shown).map((change) => (
        <ChangeRow key={change.path} open={open} change={change} isHere={change.version === version} />
      ))}
      {changes.length > shown && (
        <li>
          <button type="button" class="more" onClick={() => setShown(shown + 500)}>
            {plural(changes.length - shown, 'more change')}
          </button>
        </li>
      )}
      {hasMore && <li class="quiet">There are more changes than the server lists.</li>}
    </ul>
  );
}

interface RowProps {
  readonly open: OpenThread;
  readonly change: Change;
  /** The version that is looked at wrote it. */
  readonly isHere: boolean;
}

const SIGNS: Readonly<Record<Change['op'], string>> = { add: '+', remove: '−', replace: '~' };
const WORDS: Readonly<Record<Change['op'], string>> = { add: 'added', remove: 'removed', replace: 'changed' };

function ChangeRow({ open, change, isHere }: RowProps) {
  const { op, path, value, before, version } = change;
  return (
    <li class={op}>
      <span class="sign" role="img" aria-label={WORDS[op]}>
        {SIGNS[op]}
      </span>
      <div>
        <div class="node">
          <span class="key">{placeOf(path)}</span>
          {!isHere && <Written open={open} version={version} />}
        </div>
        {before !== undefined && (
          <div class="before">
            <Tree value={before} open={0} />
          </div>
        )}
        {value !== undefined && (
          <div class="after">
            <Tree value={value} open={0} />
          </div>
        )}
      </div>
    </li>
  );
}
