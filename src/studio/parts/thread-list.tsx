/** Threads in two lines each, newest first; only the visible ones exist. */
import { useRef } from 'preact/hooks';
import type { Thread } from '../api/types.ts';
import {
  isFailedOnly,
  isListLoaded,
  listProblem,
  now,
  search,
  searchText,
  threadAt,
  total,
  want,
} from '../model/list.ts';
import { hrefOf } from '../model/route.ts';
import { age, clip, shortId } from '../model/words.ts';
import { Status } from './status.tsx';
import { VirtualList, type ListHandle } from './virtual.tsx';

const ROW_PX = 48;

export function SearchBar() {
  return (
    <div class="search">
      <input
        type="search"
        id="search"
        aria-label="Search threads"
        placeholder="/ search"
        value={searchText.value}
        onInput={(event) => search(event.currentTarget.value, isFailedOnly.value)}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={isFailedOnly.value}
          onChange={(event) => search(searchText.value, event.currentTarget.checked)}
        />
        failed only
      </label>
    </div>
  );
}

export function ThreadList({ current }: { readonly current: string | undefined }) {
  const handle = useRef<ListHandle>(null);
  const count = total.value;
  const isFiltered = searchText.value !== '' || isFailedOnly.value;
  if (listProblem.value !== undefined) return <p class="calm">{listProblem.value}</p>;
  if (count === 0 && isListLoaded.value)
    return <p class="calm">{isFiltered ? 'No thread matches.' : 'No threads yet.'}</p>;
  return (
    <VirtualList
      class="threads"
      label="Threads"
      count={count}
      heightOf={() => ROW_PX}
      measured={count}
      handle={handle}
      onRange={want}
      row={(index, top) => {
        const thread = threadAt(index);
        return (
          <div
            key={index}
            role="listitem"
            class="row"
            style={{ transform: `translateY(${top}px)`, height: `${ROW_PX}px` }}
          >
            {thread === undefined ? (
              <div class="thread" />
            ) : (
              <Row thread={thread} isCurrent={thread.thread_id === current} />
            )}
          </div>
        );
      }}
    />
  );
}

/** Threads without a text of a person are named after their graph. */
export function titleOf({ title, thread_id: id, metadata }: Thread): string {
  const graph = metadata['graph_id'];
  return title ?? (typeof graph === 'string' ? graph : shortId(id));
}

function Row({ thread, isCurrent }: { readonly thread: Thread; readonly isCurrent: boolean }) {
  const { thread_id: id, metadata, status, updated_at: updated, error } = thread;
  const graph = metadata['graph_id'];
  return (
    <a class="thread" href={hrefOf(`/threads/${id}`)} {...(isCurrent && { 'aria-current': 'page' as const })}>
      <span class="title">{titleOf(thread)}</span>
      <span class="about">
        {typeof graph === 'string' && <span class="graph">{clip(graph, 22)}</span>}
        <Status status={status} />
        <time dateTime={updated}>{age(updated, now.value)}</time>
        {error != null && status === 'error' && (
          <span class="failed" title={error.message}>
            {error.error}: {error.message}
          </span>
        )}
      </span>
    </a>
  );
}
