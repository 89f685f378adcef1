/** A form of the fields of a JSON Schema. */
import { useState } from 'preact/hooks';
import type { Json, JsonObject } from '../api/types.ts';
import { parseField, textOfChoice, type Field } from '../model/schema.ts';
import { SendForm } from './send-form.tsx';

interface Props {
  readonly fields: readonly Field[];
  readonly action: string;
  /** Name of the action, for its state. */
  readonly name: string;
  onSend(values: JsonObject): Promise<unknown>;
}

export function Form({ fields, ...sending }: Props) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  return (
    <SendForm {...sending} read={() => valuesOf(fields, texts)}>
      {fields.map((field) => (
        <FieldRow
          key={field.name}
          field={field}
          text={texts[field.name] ?? initialText(field)}
          onText={(text) => setTexts({ ...texts, [field.name]: text })}
        />
      ))}
    </SendForm>
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
