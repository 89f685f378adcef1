import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Collects what nobody has any more. What weak references gave in this turn of the event loop stays until the next one. */
export async function collectGarbage(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  collect();
}

/** Bytes of the heap that are still referenced. */
export function heapInUse(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
