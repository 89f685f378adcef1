/** A list of any length of which only the visible rows exist. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem,
} from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks';

export interface ListHandle {
  show(index: number): void;
}

interface Props {
  readonly count: number;
  readonly label: string;
  readonly class: string;
  /** Height in pixels. */
  heightOf(index: number): number;
  /** Changes when heights change. */
  readonly measured: unknown;
  row(index: number, top: number): ComponentChildren;
  onRange?(from: number, to: number): void;
  readonly handle?: { current: ListHandle | null };
}

export function VirtualList(props: Props) {
  const { count, heightOf, measured, row, onRange, handle } = props;
  const box = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const list = useRef<Virtualizer<HTMLDivElement, HTMLDivElement>>(undefined as never);
  const options = {
    count,
    getScrollElement: () => box.current,
    estimateSize: heightOf,
    overscan: 12,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(undefined),
  };
  list.current ??= new Virtualizer(options);
  list.current.setOptions(options);
  useLayoutEffect(() => list.current._didMount(), []);
  useLayoutEffect(() => list.current._willUpdate());
  useLayoutEffect(() => list.current.measure(), [measured]);
  if (handle) handle.current = { show: (index) => list.current.scrollToIndex(index, { align: 'auto' }) };
  const items: VirtualItem[] = list.current.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => onRange?.(first, last), [first, last, count]);
  return (
    <div ref={box} class={`scroll ${props.class}`} role="list" aria-label={props.label} tabIndex={0}>
      <div class="virtual" style={{ height: `${list.current.getTotalSize()}px` }}>
        {items.map(({ index, start }) => row(index, start))}
      </div>
    </div>
  );
}
