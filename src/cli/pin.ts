/** The `pin` command: names runs that `dev` tries every save of their graph against. */
import type { Command } from 'commander';
import { EXIT_OK } from './exit-codes.ts';
import type { Pin } from '../dev/pins.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { openStore, withDataOption, withJsonOption, type DataOptions } from './options.ts';

interface PinOptions extends DataOptions {
  readonly remove?: boolean;
  readonly json?: boolean;
}

export const addPin = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(
    withDataOption(
      program
        .command('pin')
        .argument('[run]', 'a run, or a thread for its last run; the first characters of an id are enough'),
    ),
    'print the list as JSON',
  )
    .option('--remove', 'the run is pinned no longer')
    .summary('have dev try every save against a run')
    .description(
      'Pins a run: `dev` executes it again, offline, after every save of a file that belongs to its graph. Without a run ' +
        'the pinned ones are listed.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 done, 2 wrong option, 3 unknown run, or the log cannot be opened',
        'pin 01a20dad-668f',
        'pin',
        'pin 01a20dad-668f --remove',
      ),
    )
    .action(async (given: string | undefined, options: PinOptions) => {
      await pin(given, options, host);
      finish(EXIT_OK);
    });

const toListed = ({ runId, threadId, graphId }: Pin): object => ({
  ...{ run_id: runId, thread_id: threadId, graph_id: graphId },
});

async function pin(
  given: string | undefined,
  { remove = false, json = false, ...options }: PinOptions,
  host: Host,
): Promise<void> {
  const { dataDir, store } = await openStore(options, host);
  const { readPins, writePins } = await import('../dev/pins.ts');
  const { findRun } = await import('../past/find.ts');
  const pins = readPins(dataDir);
  if (given === undefined) {
    if (json) return host.print(JSON.stringify(pins.map(toListed)));
    for (const { runId, graphId } of pins) host.print(`${runId}  ${graphId}`);
    if (pins.length === 0) host.print('no run is pinned');
    return;
  }
  const history = await store.openPast();
  try {
    const { runId, threadId, graphId } = await findRun(history, given);
    const others = pins.filter((each) => each.runId !== runId);
    writePins(dataDir, remove ? others : [...others, { runId, threadId, graphId }]);
    host.print(`run ${runId} of ${graphId} is ${remove ? 'pinned no longer' : 'pinned'}`);
  } finally {
    await history.close();
  }
}
