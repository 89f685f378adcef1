/** The `open` command: serves an exported file for reading, from a folder that goes when the server stops. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../config/config.ts';
import { readConfig } from '../config/load.ts';
import { systemClock } from '../kernel/clock.ts';
import { PRODUCT } from '../kernel/product.ts';
import type { RunningServer } from '../running-server.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { importHere } from './import.ts';
import { listenersOf, openLogger } from './serve.ts';
import { openServerExit } from './server-exit.ts';

interface OpenOptions {
  readonly host?: string;
  readonly port?: string;
}

export const addOpen = (program: Command, host: Host, finish: Finish): Command =>
  program
    .command('open')
    .argument('<file>', `what "${PRODUCT} export" wrote`)
    .option('-H, --host <host>', 'address to listen on, 127.0.0.1 by default')
    .option('-p, --port <port>', 'port to listen on, a free one by default')
    .summary('look into an exported thread')
    .description(
      'Serves an exported thread for reading, from a temporary folder that is removed at the end. Needs no project: ' +
        'states come from the checkpoints, so that `next` and `tasks` show the tasks that have written something. ' +
        'Whatever would change or run something is refused with 409.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 stopped, 2 wrong option, 3 the file is missing or damaged, 70 the disk failed',
        'open thread.rewound',
        'open thread.rewound --port 8080',
      ),
    )
    .action(async (file: string, options: OpenOptions) => {
      await open(resolve(host.cwd, file), options, host);
      finish(undefined);
    });

async function open(path: string, options: OpenOptions, host: Host): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), `${PRODUCT}-open-`));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const config = configIn(folder, options, host);
    const { threadId, graphs } = await importHere(path, { data: config.dataDir }, { ...host, env: {} });
    const logger = await openLogger(config, false);
    const clock = systemClock();
    const exit = openServerExit(host, logger, clock);
    const { startServer } = await import('../serve.ts');
    const { openRecordedGraphs } = await import('../workers/recorded-graphs.ts');
    const starting = startServer(config, {
      ...listenersOf(config, logger, exit),
      openGraphs: async ({ ids }) => openRecordedGraphs(graphs, ids),
    }).then((server): RunningServer => ({ ...server, stop: () => server.stop().finally(remove) }));
    exit.onSignals(starting);
    const { url } = await starting.finally(exit.started);
    host.print(`Studio        ${url}/studio/threads/${threadId}
Serving on    ${url}, for reading
Docs          ${url}/docs`);
  } catch (error) {
    remove();
    throw error;
  }
}

/** What the environment says is meant for other servers. */
function configIn(folder: string, { host, port = '0' }: OpenOptions, { cwd }: Host): Config {
  const config = join(folder, 'platform.json');
  writeFileSync(config, '{"graphs":{}}');
  const overrides = { config, data: join(folder, 'data'), port, ...(host !== undefined && { host }) };
  return {
    ...readConfig(overrides, {}, cwd).config,
    isReadOnly: true,
    // The frames of old runs are what the file is opened for.
    frameRetentionMs: Number.MAX_SAFE_INTEGER,
  };
}
