/** JSON that is entered as text. */
import { useState } from 'preact/hooks';
import type { Json } from '../api/types.ts';
import { busy } from '../model/notices.ts';
import { parseJson } from '../model/schema.ts';

interface Props {
  readonly label: string;
  readonly initial: Json;
  readonly action: string;
  readonly name: string;
  readonly rows?: number;
  onSend(value: Json): Promise<unknown>;
}

export function JsonBox({ label, initial, action, name, rows = 4, onSend }: Props) {
  const [text, setText] = useState(() => JSON.stringify(initial, null, 2));
  const [problem, setProblem] = useState('');
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      const value = parseJson(text, label);
      setProblem('');
      await onSend(value);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <form class="form" onSubmit={(event) => void send(event)}>
      <label class="field">
        <span>{label}</span>
        <textarea
          class="mono"
          rows={rows}
          value={text}
          spellcheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
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
