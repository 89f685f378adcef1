/** Calls `read` now and every 2 s while the page can be seen; the result ends it. Failures are left to the next call. */

const POLL_INTERVAL_MS = 2_000;

export function poll(read: () => Promise<unknown>): () => void {
  let timer: ReturnType<typeof setTimeout>;
  let isOver = false;
  const tick = async (): Promise<void> => {
    if (document.visibilityState === 'visible') await read().catch(() => undefined);
    if (!isOver) timer = setTimeout(() => void tick(), POLL_INTERVAL_MS);
  };
  void tick();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
