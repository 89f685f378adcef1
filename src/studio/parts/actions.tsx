/** The list of actions, and the dialogs that some of them need. */
import { useState } from 'preact/hooks';
import type { JsonObject } from '../api/types.ts';
import {
  asCurl,
  asSdk,
  copy,
  copyReport,
  download,
  fileName,
  fork,
  openRun,
  proceed,
  proceedEdited,
  remove,
  runAgain,
  stop,
  toClipboard,
} from '../model/actions.ts';
import { closeDialog, dialog } from '../model/dialogs.ts';
import { KEYS } from '../model/keys.ts';
import type { Moment } from '../model/moment.ts';
import { busy } from '../model/notices.ts';
import type { OpenThread } from '../model/thread.ts';
import { isObject } from '../model/words.ts';
import { CodeBlock } from './code.tsx';
import { Dialog } from './dialog.tsx';
import { JsonBox } from './json-box.tsx';
import { questionsOf } from './questions.tsx';

interface Props {
  readonly open: OpenThread;
  readonly moment: Moment;
}

interface Action {
  readonly name: string;
  readonly label: string;
  readonly isOffered: boolean;
  run(): unknown;
}

function actionsOf({ open, moment }: Props): readonly Action[] {
  const fact = open.story.at(open.version.value);
  const runId = fact?.run_id ?? open.runs.value[0]?.run_id;
  const checkpoint = moment.state.value?.checkpoint?.checkpoint_id ?? undefined;
  const isFree = openRun(open) === undefined;
  const isPast = open.version.value < open.story.length.value;
  const canGoOn = isFree && open.runs.value.length > 0;
  const status = open.thread.value?.status;
  const isAsked = questionsOf(open).length > 0;
  return [
    {
      name: 'continue',
      label: 'Continue',
      isOffered: canGoOn && status !== 'idle' && !isAsked,
      run: () => proceed(open),
    },
    { name: 'stop', label: 'Stop the run', isOffered: !isFree, run: () => stop(open) },
    {
      name: 'continue edited',
      label: 'Edit and continue',
      isOffered: canGoOn,
      run: () => (dialog.value = 'edit'),
    },
    {
      name: 'fork',
      label: `Fork from v ${open.version.value}`,
      isOffered: canGoOn && isPast && checkpoint !== undefined,
      run: () => fork(open, checkpoint!),
    },
    {
      name: 'again',
      label: 'Run again offline',
      isOffered: runId !== undefined,
      run: () => runAgain(open, runId!),
    },
    { name: 'test', label: 'Make it a test', isOffered: true, run: () => (dialog.value = 'test') },
    {
      name: 'report',
      label: 'Copy for an agent',
      isOffered: runId !== undefined,
      run: () => copyReport(open, runId!),
    },
    { name: 'code', label: 'Copy as curl or SDK code', isOffered: true, run: () => (dialog.value = 'code') },
    { name: 'export', label: 'Export', isOffered: true, run: () => download(open) },
    { name: 'copy', label: 'Copy the thread', isOffered: isFree, run: () => copy(open) },
    { name: 'delete', label: 'Delete the thread …', isOffered: isFree, run: () => (dialog.value = 'delete') },
  ].filter(({ name, isOffered }) => isOffered && (!open.isFile || READS.has(name)));
}

/** The actions of the first line: those that matter at a failure come first. */
export function ActionBar(props: Props) {
  const actions = actionsOf(props);
  const first = actions.filter(({ name }) => SHOWN.has(name));
  return (
    <div class="actions" role="group" aria-label="Actions">
      {first.map(({ name, label, run }, at) => (
        <button
          key={name}
          type="button"
          class={at === 0 && (name === 'continue' || name === 'stop') ? 'main' : ''}
          disabled={busy.value.has(name)}
          onClick={() => void run()}
        >
          {busy.value.has(name) ? `${label} …` : label}
        </button>
      ))}
      <button type="button" title="All actions (⌘K)" onClick={() => (dialog.value = 'actions')}>
        ⋯<span class="hidden">All actions</span>
      </button>
    </div>
  );
}

/** Actions that need nothing but what is in an opened file. */
const READS = new Set(['report', 'export']);

const SHOWN = new Set(['continue', 'stop', 'continue edited', 'again', 'test', 'report']);

export function Dialogs(props: Props) {
  switch (dialog.value) {
    case 'actions':
      return <ActionList {...props} />;
    case 'edit':
      return <EditState {...props} />;
    case 'test':
      return <MakeTest {...props} />;
    case 'code':
      return <AsCode {...props} />;
    case 'delete':
      return <Delete {...props} />;
    default:
      return null;
  }
}

function ActionList(props: Props) {
  const [filter, setFilter] = useState('');
  const shown = actionsOf(props).filter(({ label }) => label.toLowerCase().includes(filter.toLowerCase()));
  const run = (action: Action | undefined): void => {
    if (action === undefined) return;
    closeDialog();
    void action.run();
  };
  return (
    <Dialog title="Actions" onClose={closeDialog}>
      <input
        aria-label="Filter actions"
        placeholder="Filter"
        autoFocus
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') run(shown[0]);
        }}
      />
      <div class="list">
        {shown.map((action) => (
          <button key={action.name} type="button" onClick={() => run(action)}>
            {action.label}
          </button>
        ))}
      </div>
    </Dialog>
  );
}

function EditState({ open, moment }: Props) {
  const state = moment.state.value;
  if (state === undefined) return null;
  const isPast = open.version.value < open.story.length.value;
  const values: JsonObject = isObject(state.values) ? state.values : {};
  return (
    <Dialog title="Continue with edited state" onClose={closeDialog}>
      <p class="quiet">
        Only members that you change are written, as a client's update
        {isPast ? `, on the state of v ${open.version.value}: a branch` : ''}. Messages are added, or replaced
        where the id is known.
      </p>
      <JsonBox
        label="State"
        initial={values}
        rows={16}
        name="continue edited"
        action="Write and continue"
        onSend={async (edited) => {
          if (!isObject(edited)) throw new Error('State: expected an object');
          const changed = Object.entries(edited as JsonObject).filter(
            ([key, value]) => JSON.stringify(value) !== JSON.stringify(values[key]),
          );
          const isDone = await proceedEdited(
            open,
            Object.fromEntries(changed),
            isPast ? (state.checkpoint?.checkpoint_id ?? undefined) : undefined,
          );
          if (isDone) closeDialog();
        }}
      />
    </Dialog>
  );
}

function MakeTest({ open }: Props) {
  const [isSaved, setSaved] = useState(false);
  const line = `rewound rerun --check ${fileName(open)}`;
  return (
    <Dialog title="Make it a test" onClose={closeDialog}>
      <p>
        The exported thread is a test: its recorded runs are executed again, offline, and must do what they
        did. Put the file into the project and run this line in CI.
      </p>
      <CodeBlock text={line} label="Command" />
      <div class="buttons">
        <button type="button" class="main" onClick={() => void download(open).then(setSaved)}>
          {isSaved ? 'Saved' : `Save ${fileName(open)}`}
        </button>
        <button type="button" onClick={() => void toClipboard(line, 'The line')}>
          Copy the line
        </button>
      </div>
    </Dialog>
  );
}

function AsCode({ open }: Props) {
  return (
    <Dialog title="Continue this thread from code" onClose={closeDialog}>
      {[['curl', asCurl(open)] as const, ['SDK', asSdk(open)] as const].map(([name, text]) => (
        <section key={name}>
          <h3>
            {name}
            <button type="button" onClick={() => void toClipboard(text, 'The code')}>
              Copy
            </button>
          </h3>
          <CodeBlock text={text} label={name} />
        </section>
      ))}
    </Dialog>
  );
}

function Delete({ open }: Props) {
  return (
    <Dialog title="Delete the thread" onClose={closeDialog}>
      <p>The thread, its runs, checkpoints and recordings are deleted for good.</p>
      <div class="buttons">
        <button
          type="button"
          class="main danger"
          onClick={() => {
            closeDialog();
            void remove(open);
          }}
        >
          Delete for good
        </button>
        <button type="button" onClick={closeDialog}>
          Keep
        </button>
      </div>
    </Dialog>
  );
}

export function Help() {
  return (
    <Dialog title="Keys" onClose={closeDialog}>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
