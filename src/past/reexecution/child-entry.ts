/** The process of one re-execution: executes the run that its order names, sends the report and ends. */
import { storeAt } from '../../open-store.ts';
import { untried, type ChildOrder } from './child.ts';
import { reexecute } from './execute.ts';
import { toJsonReport } from './print.ts';
import { openSandbox } from './sandbox.ts';

const { exit } = process;
const send = process.send!.bind(process);
// Graph code finds no parent in its graph worker either.
delete process.send;

process.once('disconnect', () => exit());
process.once('message', (order: ChildOrder) => {
  // A run that waits for nothing ends its process.
  process.channel!.unref();
  void execute(order)
    .catch((error: unknown) => untried(error instanceof Error ? error.message : String(error)))
    .then((report) => send(report, () => exit()));
});

async function execute({ store, graphs, run, ...options }: ChildOrder): Promise<string> {
  const history = storeAt(store).openPast();
  const result = await reexecute(history, run, openSandbox(graphs), {
    ...options,
    ...{ live: false, allowUnused: false, answers: new Map(), pauses: { onPause: () => false } },
  });
  return JSON.stringify(toJsonReport(result));
}
