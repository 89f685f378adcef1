/** A form of the fields of a JSON Schema. */
import { useState } from 'preact/hooks';
import type { Json, JsonObject } from '../api/types.ts';
import { busy } from '../model/notices.ts';
import { parseField, textOfChoice, type Field } from '../model/schema.ts';

interface Props {
  readonly fields: readonly Field[];
  readonly action: string;
  /** Name of the action, for its state. */
  readonly name: string;
  onSend(values: JsonObject): Promise<unknown>;
}

export function Form({ fields, action, name, onSend }: Props) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [problem, setProblem] = useState('');
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      const values = valuesOf(fields, texts);
      setProblem('');
      await onSend(values);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <form class="form" onSubmit={(event) => void send(event)}>
      {fields.map((field) => (
        <FieldRow
          key={field.name}
          field={field}
          text={texts[field.name] ?? initialText(field)}
          onText={(text) => setTexts({ ...texts, [field.name]: text })}
        />
      ))}
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

const initialText = ({ kind, initial, choices }: Field): string => {
  if (initial !== undefined) return typeof initial === 'string' ? initial : JSON.stringify(initial);
  if (kind === 'choice') return choices[0] === undefined ? '' : textOfChoice(choices[0]);
  return kind === 'flag' ? 'false' : '';
};

function valuesOf(fields: readonly Field[], texts: Readonly<Record<string, string>>): JsonObject {
  const values: Record<string, Json> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? initialText(field);
    if (text === '' && field.kind !== 'text' && !field.isRequired) continue;
    if (text === '' && !field.isRequired && texts[field.name] === undefined) continue;
    values[field.name] = parseField(field, text);
  }
  return values;
}

interface RowProps {
  readonly field: Field;
  readonly text: string;
  onText(text: string): void;
}

function FieldRow({ field, text, onText }: RowProps) {
  const { name, title, hint, kind, choices, isRequired } = field;
  const read = (event: { readonly currentTarget: { readonly value: string } }): void =>
    onText(event.currentTarget.value);
  return (
    <label class="field">
      <span>
        {title}
        {title !== name && <code>{name}</code>}
        {isRequired && <span class="quiet">required</span>}
        {hint !== '' && <span class="quiet">{hint}</span>}
      </span>
      {kind === 'choice' ? (
        <select value={text} onChange={read}>
          {choices.map((choice) => (
            <option key={textOfChoice(choice)} value={textOfChoice(choice)}>
              {textOfChoice(choice)}
            </option>
          ))}
        </select>
      ) : kind === 'flag' ? (
        <select value={text} onChange={read}>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      ) : kind === 'number' ? (
        <input inputMode="decimal" value={text} onInput={read} />
      ) : (
        <textarea
          rows={kind === 'json' ? 3 : 2}
          placeholder={kind === 'json' ? 'JSON' : ''}
          value={text}
          onInput={read}
          spellcheck={kind === 'text'}
        />
      )}
    </label>
  );
}
