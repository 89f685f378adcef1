/** A modal dialog; Escape closes it and the focus returns to where it was. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

interface Props {
  readonly title: string;
  readonly children: ComponentChildren;
  onClose(): void;
}

export function Dialog({ title, children, onClose }: Props) {
  const box = useRef<HTMLDialogElement>(null);
  // Not after the next picture: keys that are pressed until then would be lost.
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    return () => void (before instanceof HTMLElement && before.focus());
  }, []);
  return (
    <dialog
      ref={box}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === box.current) onClose();
      }}
    >
      <header>
        <h2>{title}</h2>
        <button type="button" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}
