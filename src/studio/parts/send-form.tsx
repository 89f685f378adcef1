/** A form whose input may be refused, with the button that sends it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { busy } from '../model/notices.ts';

interface Props<T> {
  readonly action: string;
  /** Name of the action, for its state. */
  readonly name: string;
  readonly children: ComponentChildren;
  /** Throws an error for people when the input is none. */
  read(): T;
  onSend(value: T): Promise<unknown>;
}

export function SendForm<T>({ action, name, children, read, onSend }: Props<T>) {
  const [problem, setProblem] = useState('');
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      const value = read();
      setProblem('');
      await onSend(value);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <form class="form" onSubmit={(event) => void send(event)}>
      {children}
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="buttons">
        <button type="submit" class="main" disabled={busy.value.has(name)}>
          {action}
        </button>
      </div>
    </form>
  );
}
