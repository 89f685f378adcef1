/**
 * The closed process: executes the runs that it gets by message and sends their results. R1 It has no log, and Node's
 * permissions close files, processes, threads and addons.
 */
import { setCompiler } from '../../graphs/modules/compiler.ts';
import type { ClosedRun, FromClosed, LogReads, Opening, ToClosed } from './closed-messages.ts';
import { distantCompiler, tellLate } from './compiling.ts';
import { reexecute } from './execute.ts';
import { catchFaults } from './faults.ts';
import { openSandbox } from './sandbox.ts';

const { exit } = process;
const post = process.send!.bind(process);
const send = (message: FromClosed): void => void post(message);
const channel = process.channel!;
// Graph code finds no parent in its graph worker either.
delete process.send;
process.once('disconnect', () => exit());

const asked = new Map<number, (answer: Extract<ToClosed, { kind: 'read' }>) => void>();

const ask =
  (name: keyof LogReads) =>
  (...args: unknown[]): Promise<any> =>
    new Promise((resolve, reject) => {
      const id = asked.size === 0 ? 0 : Math.max(...asked.keys()) + 1;
      channel.ref();
      asked.set(id, ({ value, error }) => {
        asked.delete(id);
        if (asked.size === 0) channel.unref();
        if (error === undefined) resolve(value);
        else reject(new Error(error));
      });
      send({ kind: 'ask', id, name, args });
    });
const reads: LogReads = {
  before: ask('before'),
  listBefore: ask('listBefore'),
  writesBefore: ask('writesBefore'),
};

process.once('message', ({ graphs, env }: Opening) => {
  setCompiler(distantCompiler);
  const sandbox = openSandbox(graphs, env, { onLate: tellLate, during: catchFaults() });

  async function execute({ data, known, options }: ClosedRun): Promise<void> {
    // A run that waits for nothing ends its process.
    channel.unref();
    try {
      const before: LogReads['before'] = async (ns, id) =>
        known.find((each) => each.ns === ns && each.checkpointId === id) ?? reads.before(ns, id);
      const result = await reexecute({ ...data, ...reads, before }, sandbox, options);
      send({ kind: 'end', result });
    } catch (error) {
      send({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
    } finally {
      channel.ref();
    }
  }
  process.on('message', (message: ToClosed) => {
    if (message.kind === 'leave') exit();
    else if (message.kind === 'run') void execute(message);
    else asked.get(message.id)?.(message);
  });
});
