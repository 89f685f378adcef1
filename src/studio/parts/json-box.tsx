/** JSON that is entered as text. */
import { useState } from 'preact/hooks';
import type { Json } from '../api/types.ts';
import { parseJson } from '../model/schema.ts';
import { SendForm } from './send-form.tsx';

interface Props {
  readonly label: string;
  readonly initial: Json;
  readonly action: string;
  readonly name: string;
  readonly rows?: number;
  onSend(value: Json): Promise<unknown>;
}

export function JsonBox({ label, initial, rows = 4, ...sending }: Props) {
  const [text, setText] = useState(() => JSON.stringify(initial, null, 2));
  return (
    <SendForm {...sending} read={() => parseJson(text, label)}>
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
    </SendForm>
  );
}
