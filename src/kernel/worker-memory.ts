/**
 * How much memory each thread of this process uses, asked from outside. V8's own limit for a thread cannot be relied
 * on: one large allocation that does not fit ends the whole process. So the limit that counts is watched here, far
 * below V8's. The question travels through the debugger's protocol, which is answered even in the middle of an endless
 * loop; threads that were started by other threads answer as well.
 */
import { Session } from 'node:inspector';

/** In bytes. */
export interface ThreadMemory {
  /** Live and dead objects, and buffers, shared ones too. */
  readonly used: number;
  /** What of the process's memory that explains: with the room that V8 keeps for more objects. */
  readonly held: number;
  /** What the thread, or the one that started it, has set as its environment data `THREAD_MARK`. */
  readonly mark: string | undefined;
}

export interface WorkerMemory {
  /** Every thread that can be asked; one that has just started comes a moment later. */
  threads(): readonly number[];
  /** Undefined when the thread is gone. `collect`: dead objects are removed first. */
  read(threadId: number, collect: boolean): Promise<ThreadMemory | undefined>;
  /** What the expression gives there, if it is plain; undefined when it throws or the thread is gone. */
  evaluate(threadId: number, expression: string): Promise<unknown>;
  /**
   * Has the thread leave by itself (`LEAVE`), in the middle of what it executes. One that cannot is left alone: code of
   * it that is broken off from outside Node takes for a fault of its own, and ends the process, unless the thread was
   * told to end and has missed it. Nothing more is said to it afterwards: Node (20) ends the process, without a word,
   * when a thread is taken apart while something is said to it.
   */
  stop(threadId: number): void;
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
interface Answer {
  readonly value?: unknown;
  /** No code of the thread can begin any more, for it was told to end (Node 20). Not so in one that is starting. */
  readonly isRefused?: boolean;
}
interface Waiting {
  readonly sessionId: string;
  settle(answer: Answer): void;
}

/** The protocol's internal error. */
const REFUSED = -32603;
export const THREAD_MARK = 'graph worker';
/** By the symbol of this name a guarded thread has a function that ends it; as in graphs/pool/thread-guard.cjs. */
export const LEAVE = 'rewound.leave';

const EXPRESSION = `(({ heapUsed, heapTotal, external, arrayBuffers }, { getEnvironmentData }) => {
  const buffers = external > arrayBuffers ? external : arrayBuffers;
  return [heapUsed + buffers, heapTotal + buffers, getEnvironmentData('${THREAD_MARK}')];
})(process.memoryUsage(), process.getBuiltinModule('node:worker_threads'))`;

/** Costs nothing until the first question. */
export function openWorkerMemory(): WorkerMemory {
  const sessions = new Map<number, string>();
  const waiting = new Map<number, Waiting>();
  const stopping = new Set<number>();
  let session: Session | undefined;
  let asked = 0;
  let closed = false;

  function onAnswer({ params }: { params: Received }): void {
    const { id, result, error } = JSON.parse(params.message) as {
      id?: number;
      result?: { result?: { value?: unknown } };
      error?: { code: number };
    };
    const found = id === undefined ? undefined : waiting.get(id);
    if (id === undefined || found === undefined) return;
    waiting.delete(id);
    found.settle({ value: result?.result?.value, isRefused: error?.code === REFUSED });
  }

  function onDetached({ params: { sessionId } }: { params: { sessionId: string } }): void {
    for (const [threadId, each] of sessions) if (each === sessionId) sessions.delete(threadId);
    for (const [id, each] of waiting) {
      if (each.sessionId !== sessionId) continue;
      waiting.delete(id);
      each.settle({});
    }
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

  function send(sessionId: string, id: number, method: string, params: object): void {
    session?.post('NodeWorker.sendMessageToWorker', {
      sessionId,
      message: JSON.stringify({ id, method, params }),
    });
  }

  async function ask(threadId: number, expression: string, collect = false): Promise<Answer> {
    connect();
    const sessionId = sessions.get(threadId);
    // Attached a moment later: the next question finds it.
    if (sessionId === undefined) return {};
    return new Promise((settle) => {
      if (collect) send(sessionId, ++asked, 'HeapProfiler.collectGarbage', {});
      const id = ++asked;
      waiting.set(id, { sessionId, settle });
      send(sessionId, id, 'Runtime.evaluate', { expression, returnByValue: true });
    });
  }

  return {
    threads() {
      connect();
      return [...sessions.keys()];
    },
    read: async (threadId, collect) => parseAnswer((await ask(threadId, EXPRESSION, collect)).value),
    evaluate: async (threadId, expression) => (await ask(threadId, expression)).value,
    stop(threadId) {
      // It answers that when it can be told: what waits for native code is asked once.
      if (stopping.has(threadId)) return;
      stopping.add(threadId);
      const leave = `globalThis[Symbol.for('${LEAVE}')]`;
      void ask(threadId, `typeof ${leave}`).then(({ value, isRefused }) => {
        stopping.delete(threadId);
        const sessionId = sessions.get(threadId);
        if (sessionId === undefined) return;
        if (isRefused) send(sessionId, ++asked, 'Runtime.terminateExecution', {});
        else if (value === 'function')
          send(sessionId, ++asked, 'Runtime.evaluate', { expression: `${leave}()` });
      });
    },
    close() {
      closed = true;
      session?.disconnect();
      session = undefined;
      sessions.clear();
      for (const { settle } of waiting.values()) settle({});
      waiting.clear();
    },
  };
}

/** Graph code may have its hands in the answer. */
function parseAnswer(value: unknown): ThreadMemory | undefined {
  if (!Array.isArray(value)) return undefined;
  const [used, held, mark] = value as readonly unknown[];
  if (typeof used !== 'number' || typeof held !== 'number') return undefined;
  return { used, held, mark: typeof mark === 'string' ? mark : undefined };
}
