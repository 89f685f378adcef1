/**
 * Evaluates expressions in other threads of this process through V8's debugger protocol, which a thread answers even
 * in the middle of an endless loop.
 */
import { Session } from 'node:inspector';

export interface ThreadDebugger {
  /** The value, if it is plain; undefined when the expression throws, or when the thread is gone or not attached yet. */
  evaluate(threadId: number, expression: string): Promise<unknown>;
  close(): void;
}

interface Attached {
  readonly sessionId: string;
  /** `workerId` has a count of its own; the title, `[worker 2] name`, contains the thread id. */
  readonly workerInfo: { readonly workerId: string; readonly title: string };
}
interface Received {
  readonly sessionId: string;
  readonly message: string;
}
interface Answer {
  readonly id?: number;
  readonly result?: { readonly result?: { readonly value?: unknown } };
}
interface Waiting {
  readonly sessionId: string;
  settle(value: unknown): void;
}

/** Connects at the first evaluation. */
export function openThreadDebugger(): ThreadDebugger {
  const sessions = new Map<number, string>();
  const waiting = new Map<number, Waiting>();
  let session: Session | undefined;
  let last = 0;
  let closed = false;

  function settle(id: number, value?: unknown): void {
    const found = waiting.get(id);
    waiting.delete(id);
    found?.settle(value);
  }

  function onAnswer({ params }: { params: Received }): void {
    const { id, result } = JSON.parse(params.message) as Answer;
    if (id !== undefined) settle(id, result?.result?.value);
  }

  function onDetached({ params: { sessionId } }: { params: { sessionId: string } }): void {
    for (const [threadId, each] of sessions) if (each === sessionId) sessions.delete(threadId);
    for (const [id, each] of waiting) if (each.sessionId === sessionId) settle(id);
  }

  function connect(): void {
    if (session !== undefined || closed) return;
    const opened = (session = new Session());
    opened.connect();
    opened.on('NodeWorker.attachedToWorker', ({ params }: { params: Attached }) => {
      const { title, workerId } = params.workerInfo;
      sessions.set(Number(/^\[worker (\d+)\]/.exec(title)?.[1] ?? workerId), params.sessionId);
    });
    opened.on('NodeWorker.receivedMessageFromWorker', onAnswer);
    opened.on('NodeWorker.detachedFromWorker', onDetached);
    opened.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  }

  return {
    async evaluate(threadId, expression) {
      connect();
      const sessionId = sessions.get(threadId);
      if (sessionId === undefined) return undefined;
      return new Promise((resolve) => {
        const id = ++last;
        waiting.set(id, { sessionId, settle: resolve });
        const params = { expression, returnByValue: true };
        const message = JSON.stringify({ id, method: 'Runtime.evaluate', params });
        session?.post('NodeWorker.sendMessageToWorker', { sessionId, message });
      });
    },
    close() {
      closed = true;
      session?.disconnect();
      session = undefined;
      sessions.clear();
      for (const id of [...waiting.keys()]) settle(id);
    },
  };
}
