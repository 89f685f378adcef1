/** Tabs as the ARIA pattern has them: arrows move, the current one is in the tab order. */
import { useRef } from 'preact/hooks';

interface Props<T extends string> {
  readonly tabs: readonly T[];
  readonly current: T;
  onSelect(tab: T): void;
}

export function Tabs<T extends string>({ tabs, current, onSelect }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = (tabs.indexOf(current) + step + tabs.length) % tabs.length;
    onSelect(tabs[next]!);
    box.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Moment" ref={box} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          id={`tab-${tab}`}
          aria-controls="moment-panel"
          aria-selected={tab === current}
          tabIndex={tab === current ? 0 : -1}
          onClick={() => onSelect(tab)}
        >
          {tab[0]!.toUpperCase() + tab.slice(1)}
        </button>
      ))}
    </div>
  );
}
