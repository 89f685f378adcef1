/** The `init` command: writes the first files of a project. Asks nothing and overwrites nothing. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { PRODUCT } from '../kernel/product.ts';
import { EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { TEMPLATES, type Template } from './templates.ts';

/** Files of a project that may be there before. */
const CONFIGURATIONS = ['platform.json', 'langgraph.json'];
const KEPT = 'package.json';

export const addInit = (program: Command, host: Host, finish: Finish): Command =>
  program
    .command('init')
    .argument('[folder]', 'folder of the project; made when it is missing', '.')
    .addOption(
      new Option('-t, --template <name>', 'what to write')
        .choices(Object.keys(TEMPLATES))
        .default('function'),
    )
    .summary('write the first files of a project')
    .description(
      `Writes the first files of a project and says what to do next. Asks nothing and overwrites nothing.\n\nTemplates:\n${Object.entries(
        TEMPLATES,
      )
        .map(([name, { summary }]) => `  ${name.padEnd(9)} ${summary}`)
        .join('\n')}`,
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 written, 2 wrong option, or a file is there already',
        'init',
        'init my-agent --template agent',
        'init --template auth',
      ),
    )
    .action((given: string, { template: name }: { template: string }) => {
      const folder = resolve(host.cwd, given);
      const template = TEMPLATES[name]!;
      const files = toWrite(folder, name, template);
      mkdirSync(folder, { recursive: true });
      for (const [file, text] of files) writeFileSync(join(folder, file), text, { flag: 'wx' });
      const shown = relative(host.cwd, folder);
      host.print(`Wrote ${files.map(([file]) => join(shown, file)).join(', ')}`);
      host.print('\nNext:');
      for (const line of nextSteps(shown, template, files)) host.print(`  ${line}`);
      finish(EXIT_OK);
    });

/** Throws when one of the files is there. A project that has its configuration gets the handler alone. */
function toWrite(folder: string, name: string, { files }: Template): [file: string, text: string][] {
  const isProject = CONFIGURATIONS.some((file) => existsSync(join(folder, file)));
  const wanted = Object.entries(files).filter(([file]) =>
    name === 'auth' && isProject ? file === 'auth.ts' : file !== KEPT || !existsSync(join(folder, file)),
  );
  const taken = wanted.map(([file]) => file).filter((file) => existsSync(join(folder, file)));
  if (taken.length > 0)
    throw new Error(`${folder} has ${taken.join(', ')} already; nothing was written, name another folder`);
  return wanted;
}

function nextSteps(folder: string, template: Template, written: readonly [string, string][]): string[] {
  const { packages, graph, headers } = template;
  const isWhole = written.some(([file]) => file === 'platform.json');
  const input = { messages: [{ role: 'user', content: 'hello' }] };
  return [
    ...(folder === '' ? [] : [`cd ${folder}`]),
    ...(packages.length === 0 ? [] : [`npm install ${packages.join(' ')}`]),
    ...(isWhole ? [] : ['add to the configuration: "auth": { "path": "./auth.ts:auth" }']),
    `${PRODUCT} dev`,
    ...(isWhole
      ? [
          `curl -s localhost:2024/runs/wait ${['content-type: application/json', ...headers]
            .map((header) => `-H '${header}'`)
            .join(' ')} \\`,
          `  -d '${JSON.stringify({ assistant_id: graph, input })}'`,
        ]
      : []),
  ];
}
