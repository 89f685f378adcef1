/** Graphs as nobody should write them. */

interface Config {
  configurable: Record<string, unknown>;
  writer(chunk: unknown): Promise<void>;
}

export const fine = (_state: unknown) => ({ fine: true });

export async function* yieldsMuch(_state: unknown, { configurable }: Config) {
  for (let i = 1; i <= Number(configurable['count']); i++) yield { i };
}

export async function writesMuch(_state: unknown, { configurable, writer }: Config) {
  // Not awaited: whoever writes so does not care how fast anybody reads.
  for (let i = 1; i <= Number(configurable['count']); i++) void writer({ i });
  return { wrote: Number(configurable['count']) };
}

/** Its interval goes on writing when the run is over. */
export const goesOnAfterItsEnd = (_state: unknown, { writer }: Config) => {
  let i = 0;
  const timer = setInterval(() => {
    void writer({ late: i });
    if (i++ > 50) clearInterval(timer);
  }, 1);
  return { ended: true };
};
