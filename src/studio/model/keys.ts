/** Keys of the whole page. Fields keep theirs: there, only Escape is read. */
import { closeDialog, dialog } from './dialogs.ts';
import { go, hrefOf, setQuery } from './route.ts';
import { isCrash, isFailure } from './telling.ts';
import { nextTold, type OpenThread } from './thread.ts';

export const TABS = ['state', 'conversation', 'call', 'error', 'graph', 'raw'] as const;
export type Tab = (typeof TABS)[number];

export const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['j k', 'next and previous fact'],
  ['← →', 'one version back and forward'],
  ['e', 'next failure or crash, again from the first'],
  ['0', 'show what matters now, and follow'],
  ['1 … 6', 'State, Conversation, Call, Error, Graph, Raw'],
  ['/', 'search threads'],
  ['⌘K, Ctrl K', 'actions'],
  ['g t, g s', 'threads, server'],
  ['?', 'these keys'],
  ['Esc', 'close, or leave a field'],
];

let isAfterG = false;

export function onKey(event: KeyboardEvent, open: OpenThread | undefined): void {
  const target = event.target as HTMLElement;
  if (event.key === 'k' && (event.metaKey || event.ctrlKey)) {
    event.preventDefault();
    if (open !== undefined) dialog.value = dialog.value === 'actions' ? undefined : 'actions';
    return;
  }
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.key === 'Escape') {
    closeDialog();
    if (isField(target)) target.blur();
    return;
  }
  if (isField(target) || dialog.value !== undefined) return;
  if (isAfterG) {
    isAfterG = false;
    if (event.key === 't') return go(hrefOf('/threads'));
    if (event.key === 's') return go(hrefOf('/server'));
  }
  if (pageKey(event.key) || (open !== undefined && threadKey(event, open))) event.preventDefault();
}

const isField = (target: HTMLElement): boolean =>
  target.matches?.('textarea, select, input:not([type=range]):not([type=checkbox])') === true;

function pageKey(key: string): boolean {
  switch (key) {
    case '/':
      document.getElementById('search')?.focus();
      return true;
    case '?':
      dialog.value = 'help';
      return true;
    case 'g':
      isAfterG = true;
      return true;
    default:
      return false;
  }
}

function threadKey({ key, target }: KeyboardEvent, open: OpenThread): boolean {
  const tab = TABS[Number(key) - 1];
  if (tab !== undefined) {
    setQuery({ tab });
    return true;
  }
  switch (key) {
    case 'j':
      open.select(nextTold(open, 1));
      return true;
    case 'k':
      open.select(nextTold(open, -1));
      return true;
    case 'ArrowLeft':
    case 'ArrowRight':
      // The slider and the tabs move by themselves.
      if ((target as HTMLElement).matches('[role=tab], input')) return false;
      open.select(open.version.value + (key === 'ArrowLeft' ? -1 : 1));
      return true;
    case 'e':
      nextFailure(open);
      return true;
    case '0':
      open.release();
      return true;
    default:
      return false;
  }
}

function nextFailure(open: OpenThread): void {
  const isWrong = (fact: Parameters<typeof isFailure>[0]): boolean => isFailure(fact) || isCrash(fact);
  const { story, version } = open;
  const found = story.nearest(version.value, 1, isWrong) ?? story.nearest(0, 1, isWrong);
  if (found !== undefined) open.select(found.version);
}
