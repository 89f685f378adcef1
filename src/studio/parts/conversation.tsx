/** Messages as they stream, the questions that wait, and the input for the next run. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { schemasOf } from '../api/server.ts';
import type { JsonObject } from '../api/types.ts';
import { assistantOf, openRun, sendInput } from '../model/actions.ts';
import { messagesIn, withLive } from '../model/messages.ts';
import type { Moment } from '../model/moment.ts';
import { busy } from '../model/notices.ts';
import { query, setQuery } from '../model/route.ts';
import { fieldsOf, type Field } from '../model/schema.ts';
import type { OpenThread } from '../model/thread.ts';
import { Form } from './form.tsx';
import { JsonBox } from './json-box.tsx';
import { Messages } from './messages.tsx';
import { Questions } from './questions.tsx';

export function Conversation({ open, moment }: { readonly open: OpenThread; readonly moment: Moment }) {
  const isRaw = query('raw') !== undefined;
  const isHead = open.version.value === open.story.length.value || open.follows.value;
  const own = messagesIn(moment.state.value?.values) ?? [];
  const messages = isHead ? withLive(own, open.live.partials.value) : own;
  const written = isHead ? open.live.written.value : '';
  const run = openRun(open);
  const canWrite = isHead && !open.isFile;
  return (
    <div class="conversation">
      {messages.length > 0 && (
        <div class="toggle" role="group" aria-label="View">
          <button type="button" aria-pressed={!isRaw} onClick={() => setQuery({ raw: undefined })}>
            Grouped
          </button>
          <button type="button" aria-pressed={isRaw} onClick={() => setQuery({ raw: '1' })}>
            Raw
          </button>
        </div>
      )}
      <Messages messages={messages} isRaw={isRaw} />
      {written !== '' && run !== undefined && <pre class="written-text">{written}</pre>}
      {messages.length === 0 && written === '' && <p class="calm">This state has no messages.</p>}
      <Bottom
        key={`${messages.length}`}
        isLive={isHead && run !== undefined}
        text={open.live.partials.value.at(-1)?.text}
      />
      {canWrite && open.thread.value?.status === 'interrupted' && <Questions open={open} />}
      {canWrite && run === undefined && open.thread.value?.status !== 'interrupted' && <Input open={open} />}
    </div>
  );
}

/** Keeps the newest text in view while it streams, unless the reader has scrolled away. */
function Bottom({ isLive, text }: { readonly isLive: boolean; readonly text: string | undefined }) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = end.current?.closest('.pane');
    if (!isLive || box == null) return;
    if (box.scrollHeight - box.scrollTop - box.clientHeight < 160) box.scrollTop = box.scrollHeight;
  }, [text, isLive]);
  return <div ref={end} />;
}

function Input({ open }: { readonly open: OpenThread }) {
  const assistant = assistantOf(open);
  const schema = useInputSchema(assistant);
  if (assistant === undefined) return null;
  if (schema === undefined) return <p class="calm">Reading the input of the graph …</p>;
  return <GraphInput schema={schema} name="send" action="Send" onSend={(input) => sendInput(open, input)} />;
}

/** Undefined while it is read; null when it is unknown. */
export function useInputSchema(assistant: string | undefined): JsonObject | null | undefined {
  const [schema, setSchema] = useState<JsonObject | null>();
  useEffect(() => {
    if (assistant === undefined) return;
    let isCurrent = true;
    const keep = (found: JsonObject | null): void => void (isCurrent && setSchema(found));
    schemasOf(assistant).then(
      ({ input_schema: found }) => keep(found),
      () => keep(null),
    );
    return () => void (isCurrent = false);
  }, [assistant]);
  return schema;
}

interface GraphInputProps {
  readonly schema: JsonObject | null;
  readonly name: string;
  readonly action: string;
  onSend(input: JsonObject): Promise<boolean>;
}

/** A chat box for a graph with messages, with its other members below; a form otherwise; JSON where no schema tells. */
export function GraphInput({ schema, name, action, onSend }: GraphInputProps) {
  const fields = fieldsOf(schema);
  const others = fields?.filter((field) => field.name !== 'messages');
  if (fields?.some((field) => field.name === 'messages'))
    return <ChatBox others={others ?? []} name={name} action={action} onSend={onSend} />;
  if (fields !== undefined && fields.length > 0)
    return <Form fields={fields} name={name} action={action} onSend={onSend} />;
  return (
    <JsonBox
      label="Input"
      initial={{}}
      name={name}
      action={action}
      onSend={(value) => onSend(value as JsonObject)}
    />
  );
}

function ChatBox({
  others,
  name,
  action,
  onSend,
}: Omit<GraphInputProps, 'schema'> & { readonly others: readonly Field[] }) {
  const [text, setText] = useState('');
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (text.trim() === '') return;
    const sent = text;
    setText('');
    if (!(await onSend({ messages: [{ role: 'user', content: sent }] }))) setText(sent);
  };
  return (
    <>
      <form class="chat" onSubmit={(event) => void send(event)}>
        <textarea
          rows={2}
          aria-label="Message"
          placeholder="Message"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) void send(event);
          }}
        />
        <button type="submit" class="main" disabled={busy.value.has(name) || text.trim() === ''}>
          {action}
        </button>
      </form>
      {others.length > 0 && (
        <details class="others">
          <summary>other input: {others.map((field) => field.name).join(', ')}</summary>
          <Form fields={others} name={name} action={action} onSend={onSend} />
        </details>
      )}
    </>
  );
}
