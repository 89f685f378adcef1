/** Answers the calls of graph code with the checkpoints and store of the run or query that makes them. */
import type { CheckpointReader, RunLink } from '../graphs/port.ts';
import type { Message } from './frame.ts';
import { collectBlobs, packLoaded, unpackCheckpoint, unpackWrites } from './packing.ts';

export interface Caller {
  readonly checkpoints?: CheckpointReader;
  /** Present for runs, absent for queries. */
  readonly link?: RunLink;
}

export interface Reply {
  readonly head: object;
  readonly blobs?: readonly string[];
}

/** Reads or writes for a `call` message. Rejects with the error that the graph worker receives. */
export async function answerCall(caller: Caller | undefined, { head, blobs }: Message): Promise<Reply> {
  if (caller === undefined) throw new Error('The run is over');
  const { checkpoints, link } = caller;
  switch (head.m) {
    case 'cp.get': {
      const packed = collectBlobs();
      const found = packLoaded(await needed(checkpoints).load(head.ns, head.id, head.choice), packed);
      return { head: { found }, blobs: packed.list };
    }
    case 'cp.list': {
      const packed = collectBlobs();
      const found = (await needed(checkpoints).list(head.query)).map((each) => packLoaded(each, packed));
      return { head: { found }, blobs: packed.list };
    }
    case 'cp.put':
    case 'cp.put_writes':
      await takeSave(needed(link), head, blobs);
      return { head: {} };
    case 'store.batch':
      return { head: { results: await needed(link).store.batch(head.ops) } };
    default:
      throw new Error(`There is no call "${head.m}"`);
  }
}

/** Saves a checkpoint, writes, a part of a recording, a kept call, or notes of prints and calls. Call it in the order in which the messages arrive. */
export function takeSave(link: RunLink, head: any, blobs: readonly string[]): Promise<void> {
  const { checkpoints } = link;
  if (head.m === 'record') return link.record(Buffer.from(blobs[0]!, 'base64'));
  if (head.m === 'keep') return link.keep(Buffer.from(blobs[0]!, 'base64'), head.base, head.isAnswer);
  if (head.m === 'note') return link.note(blobs[0]!);
  if (head.m === 'cp.put') return checkpoints.save(unpackCheckpoint(head.checkpoint, blobs));
  return checkpoints.saveWrites(head.ns, head.id, unpackWrites(head.writes, blobs));
}

function needed<T>(part: T | undefined): T {
  if (part === undefined)
    throw new Error('A query has no run, and a query of a graph alone has no checkpoints');
  return part;
}
