/**
 * A chat as applications write it with the official React hook. The query names the server (`api`) and the graph, the
 * hash names the thread.
 */
import type { Message } from '@langchain/langgraph-sdk';
import { useStream } from '@langchain/langgraph-sdk/react';
import { useState, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';

const query = new URLSearchParams(location.search);

function onHashChange(notify: () => void): () => void {
  addEventListener('hashchange', notify);
  return () => removeEventListener('hashchange', notify);
}

const say = (content: string) => ({ messages: [{ type: 'human' as const, content }] });

function Chat() {
  const [text, setText] = useState('');
  const stream = useStream<{ messages: Message[] }, { InterruptType: { question: string } }>({
    apiUrl: query.get('api')!,
    assistantId: query.get('graph')!,
    threadId: useSyncExternalStore(onHashChange, () => location.hash.slice(1) || null),
    onThreadId: (id) => (location.hash = id),
    fetchStateHistory: true,
    reconnectOnMount: true,
  });
  return (
    <>
      <ul>
        {stream.messages.map((message) => {
          const { firstSeenState, branch, branchOptions } = stream.getMessagesMetadata(message) ?? {};
          return (
            <li key={message.id} className={message.type}>
              <p>{String(message.content)}</p>
              {message.type === 'human' && (
                <button
                  onClick={() =>
                    void stream.submit(say(text), { checkpoint: firstSeenState?.parent_checkpoint ?? null })
                  }
                >
                  Say the text instead
                </button>
              )}
              {branch !== undefined &&
                branchOptions?.map((option, index) => (
                  <button
                    key={option}
                    aria-pressed={option === branch}
                    onClick={() => stream.setBranch(option)}
                  >
                    Branch {index + 1}
                  </button>
                ))}
            </li>
          );
        })}
      </ul>
      <p role="status">{stream.isThreadLoading ? 'loading' : stream.isLoading ? 'running' : 'idle'}</p>
      {stream.error !== undefined && <p role="alert">{String(stream.error)}</p>}
      {stream.interrupt?.value !== undefined && (
        <p>
          {stream.interrupt.value.question}
          <button onClick={() => void stream.submit(undefined, { command: { resume: text } })}>Answer</button>
        </p>
      )}
      <input aria-label="Text" value={text} onChange={(event) => setText(event.target.value)} />
      <button onClick={() => void stream.submit(say(text))}>Send</button>
      <button onClick={() => void stream.stop()}>Stop</button>
    </>
  );
}

createRoot(document.getElementById('chat')!).render(<Chat />);
