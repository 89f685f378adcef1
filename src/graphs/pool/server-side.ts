/** What the server does for a graph worker, each thing for the run or question that asks for it. */
import type { Clock } from '../../kernel/clock.ts';
import type { CheckpointReader, LoadedCheckpoint, RunLink } from '../port.ts';
import type { SourceReport } from '../schemas/source-report.ts';
import type { Job } from './job.ts';
import { createLocalFetch } from './local-fetch.ts';
import { fromWireError } from './rpc.ts';
import type { Loaded, ServerSide } from './sides.ts';
import { takeWrite } from './take-write.ts';

export interface ServerSideOptions {
  /** Those under way; nothing is done for others. */
  readonly jobs: ReadonlyMap<number, Job>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly fetch: typeof fetch;
  readonly readSource: (file: string, exportName: string) => Promise<SourceReport | undefined>;
  readonly onReady: (loaded: Loaded) => void;
  /** Hears how much there is in checkpoints that were asked for, in characters. */
  readonly onGiven: (characters: number) => void;
  readonly onFile: (path: string) => void;
  readonly onStray: (error: Error, context: string) => void;
}

export interface ServerSideHandle {
  readonly server: ServerSide;
  /** For how long graph code has gone on after the end of its run, in milliseconds; 0 when none does. */
  leftoverFor(): number;
  /** Nobody reads the replies of the server any more. */
  close(): void;
}

export function createServerSide(options: ServerSideOptions): ServerSideHandle {
  const { jobs, clock, readSource, onReady, onGiven, onFile, onStray } = options;
  const replies = createLocalFetch(options.fetch);
  let leftovers = 0;
  let since = Infinity;

  const jobOf = (id: number): Job => {
    const job = jobs.get(id);
    if (job === undefined) throw new Error('The run is over');
    return job;
  };
  const linkOf = (id: number): RunLink => {
    const { link } = jobOf(id);
    if (link === undefined) throw new Error('A question saves nothing');
    return link;
  };
  const readerOf = (id: number): CheckpointReader => {
    const { checkpoints } = jobOf(id);
    if (checkpoints === undefined) throw new Error('A question about a graph has no thread');
    return checkpoints;
  };
  const server: ServerSide = {
    ready: onReady,
    async load(id, ns, checkpointId) {
      const found = await readerOf(id).load(ns, checkpointId);
      if (found !== undefined) onGiven(sizeOf(found));
      return found;
    },
    async list(id, query) {
      const found = await readerOf(id).list(query);
      onGiven(found.reduce((sum, each) => sum + sizeOf(each), 0));
      return found;
    },
    write: async (id, write) => takeWrite(linkOf(id), write),
    pass(id, write) {
      const link = jobs.get(id)?.link;
      // Who takes the writes of a run remembers the first that failed.
      if (link !== undefined) takeWrite(link, write).catch(() => undefined);
    },
    begun: async (id) => linkOf(id).begun(),
    batch: (id, requests) => linkOf(id).store.batch(requests),
    leftover(change) {
      leftovers += change;
      if (leftovers === 0) since = Infinity;
      else if (since === Infinity) since = clock.monotonic();
    },
    source: readSource,
    file: onFile,
    stray: (error, context) => onStray(fromWireError(error), context),
    openReply: replies.openReply,
    readReply: replies.readReply,
    dropReply: replies.dropReply,
  };
  return { server, leftoverFor: () => Math.max(0, clock.monotonic() - since), close: replies.close };
}

const sizeOf = ({ body, blobs, writes }: LoadedCheckpoint): number =>
  [...blobs, ...writes].reduce((sum, { data }) => sum + data.length, body.length);
