/** A thread: its story and slider, and the moment that is looked at, in tabs. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Fact } from '../api/facts.ts';
import { Dialogs, ActionBar } from '../parts/actions.tsx';
import { CallTab } from '../parts/call-tab.tsx';
import { Conversation } from '../parts/conversation.tsx';
import { ErrorTab } from '../parts/error-tab.tsx';
import { GraphTab } from '../parts/graph-tab.tsx';
import { Questions, questionsOf } from '../parts/questions.tsx';
import { RawTab } from '../parts/raw-tab.tsx';
import { Slider } from '../parts/slider.tsx';
import { StateTab } from '../parts/state-tab.tsx';
import { Status } from '../parts/status.tsx';
import { StoryList } from '../parts/story.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { titleOf } from '../parts/thread-list.tsx';
import { VerdictLine } from '../parts/verdict.tsx';
import { now } from '../model/list.ts';
import { TABS, type Tab } from '../model/keys.ts';
import { messagesIn } from '../model/messages.ts';
import { openMoment, type Moment } from '../model/moment.ts';
import { hrefOf, query, setQuery } from '../model/route.ts';
import { isFailure, tell } from '../model/telling.ts';
import type { OpenThread } from '../model/thread.ts';
import { age, moment as momentText } from '../model/words.ts';

export function ThreadPage({ open }: { readonly open: OpenThread }) {
  const moment = useMemo(() => openMoment(open), [open]);
  useEffect(() => moment.close, [moment]);
  const problem = open.problem.value;
  if (problem !== undefined)
    return (
      <main class="thread-page">
        <div class="calm centre">
          <p>{problem}</p>
          <p>
            <a href={hrefOf('/threads')}>All threads</a>
          </p>
        </div>
      </main>
    );
  return (
    <main class="thread-page" tabIndex={-1}>
      <Head open={open} />
      <div class="middle">
        <StoryList open={open} />
        <Slider open={open} />
      </div>
      <MomentPane open={open} moment={moment} />
      <Dialogs open={open} moment={moment} />
    </main>
  );
}

function Head({ open }: { readonly open: OpenThread }) {
  const thread = open.thread.value;
  const graph = thread?.metadata['graph_id'];
  const connection = open.connection.value;
  return (
    <header class="head">
      <h1 title={open.id}>{thread === undefined ? ' ' : titleOf(thread)}</h1>
      {typeof graph === 'string' && <span class="graph">{graph}</span>}
      {thread !== undefined && <Status status={thread.status} />}
      {open.isFile && <span class="tag">opened file, for reading</span>}
      <code class="quiet id">{open.id}</code>
      {thread !== undefined && <time class="quiet">{age(thread.updated_at, now.value)}</time>}
      {connection === 'lost' && (
        <span class="lost" role="status">
          connection lost, trying again …
        </span>
      )}
      <VerdictLine open={open} />
    </header>
  );
}

function MomentPane({ open, moment }: { readonly open: OpenThread; readonly moment: Moment }) {
  void open.story.arrivals.value;
  const fact = open.story.at(open.version.value);
  const tab = useTab(open, moment, fact);
  const unknown = open.unknownVersion.value;
  const isAsked = !open.isFile && open.thread.value?.status === 'interrupted' && questionsOf(open).length > 0;
  return (
    <section class="moment" aria-label="Moment">
      {unknown !== undefined && (
        <p class="calm" role="status">
          This thread has no version {unknown}: its newest is {open.story.length.value}.{' '}
          <button type="button" class="more" onClick={open.release}>
            Show that
          </button>
        </p>
      )}
      <FactLine open={open} fact={fact} />
      <ActionBar open={open} moment={moment} />
      <Tabs tabs={TABS} current={tab} onSelect={(next) => setQuery({ tab: next })} />
      <div class="pane" role="tabpanel" id="moment-panel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {isAsked && open.follows.value && tab !== 'conversation' && <Questions open={open} />}
        <TabContent tab={tab} open={open} moment={moment} />
      </div>
    </section>
  );
}

function FactLine({ open, fact }: { readonly open: OpenThread; readonly fact: Fact | undefined }) {
  if (fact === undefined)
    return (
      <div class="fact-line">
        <h2>{open.version.value === 0 ? '…' : `v ${open.version.value}`}</h2>
      </div>
    );
  const { label, detail, tone } = tell(fact);
  return (
    <div class={`fact-line ${tone}`}>
      <h2>v {fact.version}</h2>
      <span class="label">{label}</span>
      <span class="detail">{detail}</span>
      <time class="quiet">{momentText(fact.at)}</time>
    </div>
  );
}

/** The tab of the address, else the one that tells most of the fact. A reader who has watched a run stays in its conversation. */
function useTab({ thread, live, follows }: OpenThread, moment: Moment, fact: Fact | undefined): Tab {
  const hasWatched = useRef(false);
  const hasMessages = live.partials.value.length > 0 || messagesIn(moment.state.value?.values) !== undefined;
  hasWatched.current ||= thread.value?.status === 'busy' && hasMessages;
  const asked = TABS.find((tab) => tab === query('tab'));
  if (asked !== undefined) return asked;
  if (fact !== undefined && isFailure(fact)) return 'error';
  return hasWatched.current && follows.value ? 'conversation' : 'state';
}

function TabContent({
  tab,
  open,
  moment,
}: {
  readonly tab: Tab;
  readonly open: OpenThread;
  readonly moment: Moment;
}) {
  switch (tab) {
    case 'state':
      return <StateTab open={open} moment={moment} />;
    case 'conversation':
      return <Conversation open={open} moment={moment} />;
    case 'call':
      return <CallTab open={open} />;
    case 'error':
      return <ErrorTab open={open} />;
    case 'graph':
      return <GraphTab open={open} moment={moment} />;
    case 'raw':
      return <RawTab open={open} moment={moment} />;
  }
}
