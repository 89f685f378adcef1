/**
 * How much memory a thread of this process uses, asked from outside. V8's own limit for a thread cannot be relied on:
 * one large allocation that does not fit ends the whole process. So the limit that counts is watched here, far below
 * V8's. The question travels through the debugger's protocol, which is answered even in the middle of an endless loop.
 */
import { Session } from 'node:inspector';

export interface WorkerMemory {
  /** Bytes of live and dead objects and of buffers. `collect`: dead ones are removed first. Undefined when unknown. */
  read(threadId: number, collect: boolean): Promise<number | undefined>;
  close(): void;
}

interface Attached {
  readonly sessionId: string;
  /** The id counts the threads in an order of its own; the title, `[worker 2] name`, says which thread it is. */
  readonly workerInfo: { readonly workerId: string; readonly title: string };
}
interface Received {
  readonly sessionId: string;
  readonly message: string;
}

const EXPRESSION = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())';

/** Costs nothing until the first question. */
export function openWorkerMemory(): WorkerMemory {
  const sessions = new Map<string, string>();
  const waiting = new Map<number, (bytes: number | undefined) => void>();
  let session: Session | undefined;
  let asked = 0;

  function connect(): Session {
    if (session !== undefined) return session;
    const opened = (session = new Session());
    opened.connect();
    opened.on('NodeWorker.attachedToWorker', ({ params }: { params: Attached }) => {
      const { title, workerId } = params.workerInfo;
      sessions.set(/^\[worker (\d+)\]/.exec(title)?.[1] ?? workerId, params.sessionId);
    });
    opened.on('NodeWorker.receivedMessageFromWorker', ({ params }: { params: Received }) => {
      const { id, result } = JSON.parse(params.message) as {
        id?: number;
        result?: { result?: { value?: unknown } };
      };
      if (id === undefined) return;
      const value = result?.result?.value;
      waiting.get(id)?.(typeof value === 'number' ? value : undefined);
      waiting.delete(id);
    });
    opened.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    return opened;
  }

  function send(sessionId: string, id: number, method: string, params: object): void {
    session?.post('NodeWorker.sendMessageToWorker', {
      sessionId,
      message: JSON.stringify({ id, method, params }),
    });
  }

  return {
    read(threadId, collect) {
      connect();
      const sessionId = sessions.get(String(threadId));
      // Attached a moment later: the next question finds it.
      if (sessionId === undefined) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        if (collect) send(sessionId, ++asked, 'HeapProfiler.collectGarbage', {});
        const id = ++asked;
        waiting.set(id, resolve);
        send(sessionId, id, 'Runtime.evaluate', { expression: EXPRESSION, returnByValue: true });
      });
    },
    close() {
      session?.disconnect();
      session = undefined;
      for (const resolve of waiting.values()) resolve(undefined);
      waiting.clear();
    },
  };
}
