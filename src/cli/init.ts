/** The `init` command: writes the first files of a project. Asks nothing and overwrites nothing. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { PRODUCT } from '../kernel/product.ts';
import { EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { ADDITIONS } from './init/additions.ts';
import { readmeOf, type Commands } from './init/agent.ts';
import { findOrigin, type Origin } from './init/origin.ts';
import { DEFAULT_TEMPLATE, TEMPLATES, toJson, type Template } from './init/templates.ts';

const ALL = { ...TEMPLATES, ...ADDITIONS };

/** Files that make a folder a project. */
const CONFIGURATIONS = ['platform.json', 'langgraph.json'];

export const addInit = (program: Command, host: Host, finish: Finish): Command =>
  program
    .command('init')
    .argument('[folder]', 'folder of the project; made when it is missing', '.')
    .addOption(
      new Option('-t, --template <name>', 'what to write')
        .choices(Object.keys(ALL))
        .default(DEFAULT_TEMPLATE),
    )
    .summary('write the first files of a project')
    .description(
      `Writes the first files of a project and says what to do next. Asks nothing and overwrites nothing.\n\nTemplates:\n${Object.entries(
        ALL,
      )
        .map(([name, { summary }]) => `  ${name.padEnd(9)} ${summary}`)
        .join('\n')}`,
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 written, 2 wrong option, or a file is there already',
        'init my-agent',
        'init hello --template function',
        'init --template auth',
        'init --template github',
        'init --template vscode',
      ),
    )
    .action(async (given: string, { template: name }: { template: string }) => {
      const folder = resolve(host.cwd, given);
      const template = ALL[name]!;
      const origin = findOrigin(folder, host.env);
      const files = await toWrite(folder, name, template, origin);
      mkdirSync(folder, { recursive: true });
      for (const [file, text] of files) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), text, { flag: 'wx' });
      }
      const shown = relative(host.cwd, folder);
      host.print(`Wrote ${files.map(([file]) => join(shown, file)).join(', ')}`);
      host.print('\nNext:');
      const next = ADDITIONS[name]?.next;
      for (const line of next === undefined ? nextSteps(shown, template, origin, files) : [next])
        host.print(`  ${line}`);
      finish(EXIT_OK);
    });

/**
 * Throws when one of the files is there. A project that has its configuration gets the handler alone, and a
 * `package.json` that is there stays as it is.
 */
async function toWrite(
  folder: string,
  name: string,
  template: Template,
  origin: Origin,
): Promise<[file: string, text: string][]> {
  const isProject = CONFIGURATIONS.some((file) => existsSync(join(folder, file)));
  const wanted = Object.entries(template.files).filter(
    ([file]) => !(name === 'auth' && isProject) || file === 'auth.ts',
  );
  const taken = wanted.map(([file]) => file).filter((file) => existsSync(join(folder, file)));
  if (taken.length > 0)
    throw new Error(
      `${folder} has ${taken.join(', ')} already; nothing was written, ` +
        (name in ADDITIONS ? `write it into another folder and merge the two` : 'name another folder'),
    );
  if (name in ADDITIONS || (name === 'auth' && isProject)) return wanted;
  const writesManifest = !existsSync(join(folder, MANIFEST));
  // npm installs the schema with the program, so a newer program brings a newer schema.
  const isInstalled = writesManifest && origin.dependency !== undefined;
  const $schema = isInstalled ? `./node_modules/${PRODUCT}/src/config/${SCHEMA}` : `./${SCHEMA}`;
  const configuration = wanted.find(([file]) => CONFIGURATIONS.includes(file))!;
  configuration[1] = toJson({ $schema, ...(JSON.parse(configuration[1]) as object) });
  if (!isInstalled && !existsSync(join(folder, SCHEMA)))
    wanted.push([SCHEMA, toJson((await import('../config/schema.ts')).toJsonSchema())]);
  if (writesManifest) wanted.push([MANIFEST, manifestOf(folder, template, origin)]);
  if (template.test !== undefined && !existsSync(join(folder, README)))
    wanted.push([README, readmeOf(basename(folder), commandsOf(template, origin, writesManifest))]);
  return wanted;
}

const MANIFEST = 'package.json';
const README = 'README.md';
const SCHEMA = 'platform.schema.json';

function manifestOf(folder: string, template: Template, { inScripts, dependency }: Origin): string {
  const manifest = {
    name:
      basename(folder)
        .toLowerCase()
        .replaceAll(/[^a-z0-9._-]+/g, '-')
        .replace(/^[._-]+/, '') || 'agent',
    private: true,
    type: 'module',
    scripts: {
      dev: `${inScripts} dev`,
      start: `${inScripts} serve`,
      ...(template.test !== undefined && { test: template.test }),
    },
    dependencies: {
      ...template.dependencies,
      ...(dependency !== undefined && { [PRODUCT]: dependency }),
    },
    devDependencies: template.devDependencies,
  };
  return toJson(manifest);
}

/** `isPackage`: the manifest is that of `init`, with its scripts. */
const commandsOf = ({ test }: Template, { inShell }: Origin, isPackage: boolean): Commands =>
  isPackage ? { dev: 'npm run dev', test: 'npm test' } : { dev: `${inShell} dev`, test: `npx ${test}` };

/** Commands that give a manifest that was there what the template needs. */
function additionsTo({ dependencies, devDependencies, test }: Template): string[] {
  const install = (flag: string, packages: Template['dependencies']): string[] => {
    const named = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
    return named.length === 0 ? [] : [`npm install ${flag}${named.join(' ')}`];
  };
  return [
    ...(test === undefined ? [] : ['npm pkg set type=module']),
    ...install('', dependencies),
    ...install('--save-dev ', devDependencies),
  ];
}

function nextSteps(
  folder: string,
  template: Template,
  origin: Origin,
  written: readonly [string, string][],
): string[] {
  const { dependencies, graph, headers, message } = template;
  const isWhole = written.some(([file]) => file === 'platform.json');
  const isPackage = written.some(([file]) => file === MANIFEST);
  const needsInstall = isPackage && (origin.dependency !== undefined || Object.keys(dependencies).length > 0);
  const input = { messages: [{ role: 'user', content: message }] };
  return [
    ...(folder === '' ? [] : [`cd ${folder}`]),
    ...(needsInstall ? ['npm install'] : []),
    ...(isPackage || !isWhole ? [] : additionsTo(template)),
    ...(isWhole ? [] : ['add to the configuration: "auth": { "path": "./auth.ts:auth" }']),
    commandsOf(template, origin, isPackage).dev,
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
