/** Filters pages of frames for one reader. */
import { breathe } from '../kernel/breathe.ts';
import type { StoredFrame } from '../store/port/payloads.ts';

const LARGE_FRAME_UTF16_UNITS = 65_536;
/** S3 One-frame pages of large frames. All filtering readers get the same page, so objects derived from it are shared. */
const singlePages = new WeakMap<StoredFrame, StoredFrame[]>();

function pageOf(frame: StoredFrame): StoredFrame[] {
  const page = singlePages.get(frame) ?? [frame];
  singlePages.set(frame, page);
  return page;
}

/** S3 Reads a page only when the consumer pulls, and skips pages without a wanted frame. */
export async function* wantedFrames(
  pages: AsyncIterable<StoredFrame[]>,
  wants: (frame: StoredFrame) => boolean,
): AsyncGenerator<StoredFrame[]> {
  for await (const page of pages) {
    const wanted = page.filter(wants);
    if (wanted.length === page.length) yield page;
    else if (wanted.length > 0) yield* split(wanted);
    // Yields to the event loop: skipping a long run without a wanted frame would block it.
    else await breathe();
  }
}

function* split(frames: readonly StoredFrame[]): Generator<StoredFrame[]> {
  let small: StoredFrame[] = [];
  for (const frame of frames) {
    if (frame.data.length <= LARGE_FRAME_UTF16_UNITS) {
      small.push(frame);
      continue;
    }
    if (small.length > 0) yield small;
    small = [];
    yield pageOf(frame);
  }
  if (small.length > 0) yield small;
}
