import { breathe } from '../kernel/breathe.ts';
import type { StoredFrame } from '../log/payloads.ts';

/** In UTF-16 units of data. */
const LARGE = 65_536;
/** S3 The page of a large frame for all readers that leave out others around it: what is made of it is made once. */
const alone = new WeakMap<StoredFrame, StoredFrame[]>();

function pageOf(frame: StoredFrame): StoredFrame[] {
  const page = alone.get(frame) ?? [frame];
  alone.set(frame, page);
  return page;
}

/** S3 The next page is asked for when the reader asks, and pages without a wanted frame are skipped. */
export async function* wantedFrames(
  pages: AsyncIterable<StoredFrame[]>,
  wants: (frame: StoredFrame) => boolean,
): AsyncGenerator<StoredFrame[]> {
  for await (const page of pages) {
    const wanted = page.filter(wants);
    if (wanted.length === page.length) yield page;
    else if (wanted.length > 0) yield* split(wanted);
    // Everything else has its turn on the way through a run of which nothing is wanted.
    else await breathe();
  }
}

function* split(frames: readonly StoredFrame[]): Generator<StoredFrame[]> {
  let small: StoredFrame[] = [];
  for (const frame of frames) {
    if (frame.data.length <= LARGE) {
      small.push(frame);
      continue;
    }
    if (small.length > 0) yield small;
    small = [];
    yield pageOf(frame);
  }
  if (small.length > 0) yield small;
}
