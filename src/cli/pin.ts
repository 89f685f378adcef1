/** The `pin` command: names runs that `dev` tries every save of their graph against. */
import type { Command } from 'commander';
import { EXIT_OK, orUntried } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { openStore, withDataOption, type DataOptions } from './options.ts';

interface PinOptions extends DataOptions {
  readonly remove?: boolean;
}

export const addPin = (program: Command, host: Host, finish: Finish): Command =>
  withDataOption(
    program
      .command('pin')
      .argument('[run]', 'a run, or a thread for its last run; the first characters of an id are enough'),
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
        '0 done, 2 unknown run, 3 the log cannot be opened',
        'pin 01a20dad-668f',
        'pin',
        'pin 01a20dad-668f --remove',
      ),
    )
    .action(async (given: string | undefined, options: PinOptions) => {
      await pin(given, options, host);
      finish(EXIT_OK);
    });

async function pin(
  given: string | undefined,
  { remove = false, ...options }: PinOptions,
  host: Host,
): Promise<void> {
  const { address, store } = await openStore(options, host);
  const { readPins, writePins } = await import('../dev/pins.ts');
  const { findRun } = await import('../past/find.ts');
  const pins = readPins(address);
  if (given === undefined) {
    for (const { runId, graphId } of pins) host.print(`${runId}  ${graphId}`);
    if (pins.length === 0) host.print('no run is pinned');
    return;
  }
  const history = await orUntried(store.openPast);
  try {
    const { runId, threadId, graphId } = await findRun(history, given);
    const others = pins.filter((each) => each.runId !== runId);
    writePins(address, remove ? others : [...others, { runId, threadId, graphId }]);
    host.print(`run ${runId} of ${graphId} is ${remove ? 'pinned no longer' : 'pinned'}`);
  } finally {
    history.close();
  }
}
