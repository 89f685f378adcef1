/** The questions that a thread waits with, answered one by one or all at once. */
import { useState } from 'preact/hooks';
import type { Json, JsonObject, Question } from '../api/types.ts';
import { answer, proceed } from '../model/actions.ts';
import { act, busy } from '../model/notices.ts';
import { fieldOf, fieldsOf, parseField, type Field } from '../model/schema.ts';
import type { OpenThread } from '../model/thread.ts';
import { isObject, plural } from '../model/words.ts';
import { Members } from './tree.tsx';

export const questionsOf = (open: OpenThread): readonly Question[] =>
  Object.values(open.thread.value?.interrupts ?? {}).flat();

export function Questions({ open }: { readonly open: OpenThread }) {
  const questions = questionsOf(open);
  if (questions.length === 0) return <Paused open={open} />;
  return <Answers key={questions.map(({ id }) => id).join()} open={open} questions={questions} />;
}

function Paused({ open }: { readonly open: OpenThread }) {
  return (
    <section class="question">
      <p>The graph is paused and asks nothing.</p>
      <div class="buttons">
        <button
          type="button"
          class="main"
          onClick={() => void proceed(open)}
          disabled={busy.value.has('continue')}
        >
          Continue
        </button>
      </div>
    </section>
  );
}

interface Given {
  readonly text: string;
  readonly isJson: boolean;
}

function Answers({
  open,
  questions,
}: {
  readonly open: OpenThread;
  readonly questions: readonly Question[];
}) {
  const [given, setGiven] = useState<readonly Given[]>(() => questions.map(initialOf));
  const send = (event: Event): void => {
    event.preventDefault();
    void act('parse answers', async () => {
      const values = questions.map((question, at) => valueOf(question, given[at]!));
      const ids = questions.map(({ id }) => id);
      const byId = Object.fromEntries(values.map((value, at) => [ids[at] ?? '', value]));
      await answer(open, questions.length === 1 ? (values[0] as Json) : byId);
    });
  };
  return (
    <form class="question" onSubmit={send}>
      <h3>
        {questions.length === 1 ? 'The graph asks' : `The graph asks ${plural(questions.length, 'question')}`}
      </h3>
      {questions.map((question, at) => (
        <AnswerRow
          key={question.id ?? at}
          question={question}
          given={given[at]!}
          onGiven={(next) => setGiven(given.map((each, index) => (index === at ? next : each)))}
        />
      ))}
      <div class="buttons">
        <button type="submit" class="main" disabled={busy.value.has('answer')}>
          {questions.length === 1 ? 'Answer' : 'Answer all'}
        </button>
      </div>
    </form>
  );
}

const initialOf = ({ response_schema: schema }: Question): Given =>
  schema === undefined
    ? { text: '', isJson: false }
    : { text: firstText(schema), isJson: fieldsOf(schema) !== undefined };

function firstText(schema: JsonObject): string {
  const members = fieldsOf(schema);
  if (members !== undefined)
    return JSON.stringify(
      Object.fromEntries(members.map((field) => [field.name, exampleOf(field)])),
      null,
      2,
    );
  const field = fieldOf('answer', schema);
  return field.kind === 'flag' ? 'true' : field.kind === 'choice' ? String(field.choices[0]) : '';
}

function exampleOf({ kind, choices, initial }: Field): Json {
  if (initial !== undefined) return initial;
  if (kind === 'choice') return choices[0] ?? null;
  return kind === 'flag' ? true : kind === 'number' ? 0 : kind === 'text' ? '' : null;
}

function valueOf({ response_schema: schema }: Question, { text, isJson }: Given): Json {
  if (isJson) return parseField({ name: 'answer', kind: 'json' } as Field, text);
  if (schema !== undefined) return parseField(fieldOf('answer', schema), text);
  return text;
}

interface RowProps {
  readonly question: Question;
  readonly given: Given;
  onGiven(given: Given): void;
}

function AnswerRow({ question, given, onGiven }: RowProps) {
  const { value, response_schema: schema } = question;
  const field = schema === undefined || given.isJson ? undefined : fieldOf('answer', schema);
  const choices = field?.kind === 'flag' ? ['true', 'false'] : field?.choices.map(String);
  const set = (text: string): void => onGiven({ ...given, text });
  const pick = (json: Json): void => onGiven({ text: JSON.stringify(json), isJson: true });
  return (
    <div class="asked">
      {typeof value === 'string' ? <p class="text">{value}</p> : <Members value={value} />}
      <div class="answer">
        {choices !== undefined && choices.length > 0 ? (
          <select aria-label="Answer" value={given.text} onChange={(event) => set(event.currentTarget.value)}>
            {choices.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        ) : (
          <textarea
            rows={Math.min(8, given.text.split('\n').length + (isObject(value) ? 1 : 0))}
            aria-label="Answer"
            placeholder={given.isJson ? 'JSON' : 'Answer as text'}
            class={given.isJson ? 'mono' : ''}
            value={given.text}
            onInput={(event) => set(event.currentTarget.value)}
          />
        )}
        {schema === undefined && (
          <div class="quick" role="group" aria-label="Kind of answer">
            <button type="button" onClick={() => pick(true)}>
              true
            </button>
            <button type="button" onClick={() => pick(false)}>
              false
            </button>
            <button
              type="button"
              aria-pressed={given.isJson}
              onClick={() => onGiven({ ...given, isJson: !given.isJson })}
            >
              JSON
            </button>
          </div>
        )}
      </div>
    </div>
  );
}
