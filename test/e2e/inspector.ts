/** A debugger that speaks the inspector protocol, as editors do. */
import { once } from 'node:events';

interface Stop {
  readonly reason: string;
  readonly functionName: string;
  readonly script: string;
  /** Of the variable that was asked for. */
  readonly value: unknown;
}

export interface Inspector {
  /** Resolves where the program stops next, with a variable in view there. */
  stop(variable: string): Promise<Stop>;
  resume(): Promise<void>;
  leave(): void;
}

/** Attaches to a program that waits for its debugger, and starts it. */
export async function openInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url);
  await once(socket as unknown as EventTarget, 'open');
  const scripts = new Map<string, string>();
  const waiting = new Map<number, (result: any) => void>();
  let onPaused: (params: any) => void = () => undefined;
  let paused: Promise<any>;
  const awaitPause = (): void => void (paused = new Promise<any>((resolve) => (onPaused = resolve)));
  awaitPause();
  socket.onmessage = ({ data }) => {
    const { id, result, method, params } = JSON.parse(String(data));
    if (method === 'Debugger.scriptParsed') scripts.set(params.scriptId, params.url);
    if (method === 'Debugger.paused') onPaused(params);
    waiting.get(id)?.(result);
  };
  let asked = 0;
  const ask = (method: string, params: object = {}): Promise<any> => {
    const id = (asked += 1);
    socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  await ask('Runtime.enable');
  await ask('Debugger.enable');
  await ask('Runtime.runIfWaitingForDebugger');
  return {
    async stop(variable) {
      const { reason, callFrames } = await paused;
      const [{ callFrameId, functionName, location }] = callFrames;
      const { result } = await ask('Debugger.evaluateOnCallFrame', { callFrameId, expression: variable });
      return { reason, functionName, script: scripts.get(location.scriptId) ?? '', value: result.value };
    },
    async resume() {
      awaitPause();
      await ask('Debugger.resume');
    },
    leave: () => socket.close(),
  };
}
