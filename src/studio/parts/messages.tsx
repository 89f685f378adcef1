/** Messages of a conversation, grouped: an answer of a tool belongs to its call. */
import { useState } from 'preact/hooks';
import type { Message, ToolCall } from '../model/messages.ts';
import { oneLine } from '../model/words.ts';
import { Members } from './tree.tsx';

interface Props {
  readonly messages: readonly Message[];
  readonly isRaw: boolean;
}

const NAMES: Readonly<Record<string, string>> = {
  human: 'You',
  ai: 'Assistant',
  system: 'System',
  tool: 'Tool',
};

/** Older messages are shown on request: a picture of thousands is of no use. */
const SHOWN_MESSAGES = 60;

export function Messages({ messages, isRaw }: Props) {
  const [shown, setShown] = useState(SHOWN_MESSAGES);
  const answers = new Map(
    messages.flatMap((each) => (each.answers === undefined ? [] : [[each.answers, each]])),
  );
  const called = new Set(messages.flatMap(({ calls }) => calls.map(({ id }) => id)));
  const grouped = isRaw
    ? messages
    : messages.filter(({ answers: id }) => id === undefined || !called.has(id));
  const hidden = Math.max(0, grouped.length - shown);
  return (
    <div class="messages">
      {hidden > 0 && (
        <button type="button" class="more" onClick={() => setShown(shown + 200)}>
          {hidden} earlier messages
        </button>
      )}
      {grouped.slice(hidden).map((message) => (
        <article key={message.key} class={`message ${message.role} ${message.isLive ? 'live' : ''}`}>
          <header>
            <b>{NAMES[message.role] ?? message.role}</b>
            {message.name !== '' && <span class="quiet">{message.name}</span>}
            {message.isFailed && <span class="tag bad">failed</span>}
          </header>
          {isRaw ? (
            <Members value={message.raw} />
          ) : (
            <>
              {message.text !== '' && <div class="text">{message.text}</div>}
              {message.calls.map((call, at) => (
                <Call key={call.id || at} call={call} answer={answers.get(call.id)} />
              ))}
              {message.text === '' && message.calls.length === 0 && <div class="quiet">empty</div>}
            </>
          )}
        </article>
      ))}
    </div>
  );
}

function Call({ call, answer }: { readonly call: ToolCall; readonly answer: Message | undefined }) {
  return (
    <details class="call">
      <summary>
        <span class={`tag ${answer === undefined ? '' : answer.isFailed ? 'bad' : 'good'}`}>
          {answer === undefined ? '…' : answer.isFailed ? '✕' : '✓'}
        </span>
        <code>
          {call.name}({oneLine(call.args)})
        </code>
        {answer !== undefined && <span class="quiet clip">{oneLine(answer.text)}</span>}
      </summary>
      <pre>{pretty(call.args)}</pre>
      {answer !== undefined && <pre class={answer.isFailed ? 'bad' : ''}>{answer.text}</pre>}
    </details>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Arguments that are still streaming.
    return text;
  }
}
