import * as assert from 'uvu/assert';

export interface ReceivedFrame {
  readonly id: number;
  readonly event: string;
  /** JSON text, as it came. */
  readonly data: string;
}

/** Reads an event stream until it ends or breaks off; `broken` tells which. Rejects when there is no stream. */
export async function collect(
  response: Response,
  onFrame: (frame: ReceivedFrame) => unknown = () => undefined,
): Promise<{ frames: ReceivedFrame[]; broken: boolean }> {
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const frames: ReceivedFrame[] = [];
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ;) {
    const chunk = await reader.read().catch(() => undefined);
    if (chunk === undefined || chunk.done) return { frames, broken: chunk === undefined };
    const blocks = (rest + chunk.value).split('\r\n\r\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      if (block.startsWith(':')) continue;
      const frame = parse(block);
      frames.push(frame);
      await onFrame(frame);
    }
  }
}

/** The attempts that the frames tell of, in order. */
export const attemptsIn = (frames: readonly ReceivedFrame[]): number[] =>
  frames
    .filter(({ event }) => event === 'metadata')
    .map(({ data }) => (JSON.parse(data) as { attempt: number }).attempt);

/** Fails unless the ids are 0, 1, 2, … */
export const assertDense = (frames: readonly ReceivedFrame[]): void =>
  assert.equal(
    frames.map(({ id }) => id),
    frames.map((_, index) => index),
  );

function parse(block: string): ReceivedFrame {
  const fields = new Map(
    block
      .split('\r\n')
      .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  );
  return { id: Number(fields.get('id')), event: fields.get('event') ?? '', data: fields.get('data') ?? '' };
}
