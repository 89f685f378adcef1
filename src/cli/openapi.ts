/** The `openapi` command: prints the document of `/openapi.json` without starting a server. */
import type { Command } from 'commander';
import { ConfigError } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { VERSION } from '../kernel/product.ts';
import { EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { enterProject } from './enter-project.ts';
import { withConfigOption, type ServerOptions } from './options.ts';

export const addOpenapi = (program: Command, host: Host, finish: Finish): Command =>
  withConfigOption(program.command('openapi'))
    .summary('print the OpenAPI document')
    .description('Prints the OpenAPI document of the server that the configuration describes. Starts none.')
    .addHelpText('after', helpEnd('0 printed, 2 wrong option or configuration', 'openapi > openapi.json'))
    .action(async (options: ServerOptions) => {
      const config = loadConfig(options, host.env, host.cwd);
      enterProject(config, host.env);
      const { loadExport } = await import('../load-export.ts');
      const { recogniseApp } = await import('../http/custom-app.ts');
      const { describeServer } = await import('../http/openapi/served.ts');
      const problems: string[] = [];
      const custom = await loadExport(
        'http.app',
        config.http.app,
        recogniseApp,
        'object with fetch',
        problems,
      );
      if (problems.length > 0) throw new ConfigError(problems);
      const document = describeServer({
        version: VERSION,
        apiKey: config.apiKeys !== undefined && config.auth === undefined,
        merge: [config.authOpenapi, custom?.openapi].filter((each) => each !== undefined),
        http: config.http,
      });
      host.print(JSON.stringify(document, null, 2));
      finish(EXIT_OK);
    });
