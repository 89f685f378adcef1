/** The frame of all pages: navigation, the column of threads, keys, notices. */
import { computed, effect, signal, untracked } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isRefused, credentials } from '../api/http.ts';
import { openDropped } from '../model/actions.ts';
import { dialog } from '../model/dialogs.ts';
import { onKey } from '../model/keys.ts';
import { isListLoaded, keepListFresh, listProblem, newest, reload, total } from '../model/list.ts';
import { notice } from '../model/notices.ts';
import { followLinks, go, hrefOf, place } from '../model/route.ts';
import { openThread, type OpenThread } from '../model/thread.ts';
import { keepVerdictsFresh } from '../model/verdicts.ts';
import { Help } from '../parts/actions.tsx';
import { SearchBar, ThreadList, titleOf } from '../parts/thread-list.tsx';
import { ComparePage } from './compare.tsx';
import { Login } from './login.tsx';
import { ServerPage } from './server.tsx';
import { ThreadPage } from './thread.tsx';
import { ThreadsPage } from './threads.tsx';

const opened = signal<OpenThread | undefined>(undefined);

const openId = computed(() =>
  place.value.page === 'thread' && !isRefused.value ? place.value.threadId : undefined,
);

/** One thread is open at a time; another identity opens it again. */
effect(() => {
  const id = openId.value;
  void credentials.value;
  untracked(() => {
    opened.peek()?.close();
    opened.value = id === undefined ? undefined : openThread(id);
  });
});

/** `/studio` is the thread that changed last, or the page of threads when there is none. */
effect(() => {
  if (place.value.page !== 'home' || !isListLoaded.value) return;
  const thread = newest.value;
  if (thread !== undefined) go(hrefOf(`/threads/${thread.thread_id}`), true);
  else if (total.value === 0) go(hrefOf('/threads'), true);
});

effect(() => {
  const thread = opened.value?.thread.value;
  document.title = thread === undefined ? 'Studio' : `${titleOf(thread)} · Studio`;
});

keepListFresh();
keepVerdictsFresh();
effect(() => {
  void credentials.value;
  untracked(() => void reload());
});

export function App() {
  useEffect(() => {
    const keys = (event: KeyboardEvent): void => onKey(event, opened.peek());
    document.addEventListener('keydown', keys);
    document.addEventListener('click', followLinks);
    document.addEventListener('dragover', (event) => event.preventDefault());
    document.addEventListener('drop', (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file !== undefined) void openDropped(file);
    });
  }, []);
  if (isRefused.value) return <Login />;
  const { page } = place.value;
  const threadId = place.value.page === 'thread' ? place.value.threadId : undefined;
  return (
    <div class={`app on-${page}`}>
      <nav aria-label="Studio">
        <a class="brand" href={hrefOf('')}>
          Studio
        </a>
        <NavLink path="/threads" name="Threads" isCurrent={page === 'threads'} />
        <NavLink path="/compare" name="Compare" isCurrent={page === 'compare'} />
        <NavLink path="/server" name="Server" isCurrent={page === 'server'} />
        <button type="button" title="Keys (?)" onClick={() => (dialog.value = 'help')}>
          ?<span class="hidden">Keys</span>
        </button>
      </nav>
      {page === 'thread' && (
        <aside aria-label="Threads">
          <SearchBar />
          <ThreadList current={threadId} />
        </aside>
      )}
      <Page />
      {dialog.value === 'help' && <Help />}
      <div class="notices" role="status" aria-live="polite">
        {notice.value !== undefined && <p class={notice.value.isBad ? 'bad' : ''}>{notice.value.text}</p>}
      </div>
    </div>
  );
}

interface NavLinkProps {
  readonly path: string;
  readonly name: string;
  readonly isCurrent: boolean;
}

const NavLink = ({ path, name, isCurrent }: NavLinkProps) => (
  <a href={hrefOf(path)} {...(isCurrent && { 'aria-current': 'page' as const })}>
    {name}
  </a>
);

function Page() {
  switch (place.value.page) {
    case 'thread':
      return opened.value === undefined ? <main /> : <ThreadPage key={opened.value.id} open={opened.value} />;
    case 'threads':
      return <ThreadsPage />;
    case 'compare':
      return <ComparePage />;
    case 'server':
      return <ServerPage />;
    case 'home':
      return (
        <main>
          <p class="calm centre">{listProblem.value ?? 'Looking for the newest thread …'}</p>
        </main>
      );
    case 'unknown':
      return (
        <main>
          <p class="calm centre">
            There is no page at this address. <a href={hrefOf('/threads')}>All threads</a>
          </p>
        </main>
      );
  }
}
