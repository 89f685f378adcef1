/** A graph without a library: streams an answer word by word as `custom` frames, then yields it as a message. */

interface Message {
  type: string;
  content: string;
}

interface Config {
  signal: AbortSignal;
  writer(chunk: unknown): Promise<void>;
}

const PAUSE_MS = 30;

export async function* graph(state: { messages?: Message[] }, config: Config) {
  const question = state.messages?.at(-1)?.content ?? 'nothing';
  const words = `You said: ${question}`.split(/(?<= )/);
  const spoken: string[] = [];
  for (const word of words) {
    await pause(PAUSE_MS, config.signal);
    spoken.push(word);
    await config.writer({ token: word });
  }
  yield { messages: [{ role: 'ai', content: spoken.join('') }] };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new Error('The run was stopped'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
