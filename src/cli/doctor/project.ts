/** Configuration, environment and code of the project. */
import { ConfigError, type Config } from '../../config/config.ts';
import { readConfig } from '../../config/load.ts';
import { openFilesProblem } from '../../kernel/open-files.ts';
import { PRODUCT, VERSION } from '../../kernel/product.ts';
import { enterProject } from '../enter-project.ts';
import type { Host } from '../host.ts';
import type { ServerOptions } from '../options.ts';
import { ok, problem, warning, type Finding } from './finding.ts';

const SEE_CONFIG = 'correct the file or the variable that it names';

/** `config` is undefined when there is no configuration file. */
export function examineConfig(
  options: ServerOptions,
  { env, cwd }: Host,
): { config: Config | undefined; findings: Finding[] } {
  try {
    const { config, problems } = readConfig(options, env, cwd);
    const findings = [
      ...problems.map((text) => problem('configuration', text, SEE_CONFIG)),
      ...config.warnings.map((text) =>
        isOfEnvironment(text)
          ? warning('environment', text, 'provide it, or take it out of the configuration')
          : warning('configuration', text, 'remove it, or correct its name'),
      ),
    ];
    if (problems.length === 0) findings.unshift(ok('configuration', config.configFile));
    return { config, findings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const remedy = `begin with "${PRODUCT} init", or name a folder with --config`;
    return {
      config: undefined,
      findings: error.problems.map((text) => problem('configuration', text, remedy)),
    };
  }
}

/** Of the key `env`: its file, or its variables. */
const isOfEnvironment = (text: string): boolean => /: env: /.test(text);

export function examineRuntime(): Finding[] {
  const files = openFilesProblem();
  return [
    ok(
      'environment',
      `${PRODUCT} ${VERSION}, Node.js ${process.versions.node}, ${process.platform} ${process.arch}`,
    ),
    ...(files === undefined
      ? []
      : [problem('environment', files, 'raise the limit before the server starts')]),
  ];
}

const remedyFor = (text: string): string =>
  /; npm install \S+$/.test(text)
    ? `install it in the folder of the project:${text.slice(text.lastIndexOf(';') + 1)}`
    : `mend it; "${PRODUCT} dev" loads a saved file at once`;

/** Loads graphs and handlers as a server would. */
export async function examineCode(config: Config, host: Host): Promise<Finding[]> {
  enterProject(config, host.env);
  const { checkProject } = await import('../../check-project.ts');
  const { graphIds, problems, warnings } = await checkProject(config);
  return [
    ...(graphIds.length === 0 ? [] : [ok('graphs', `loaded: ${graphIds.join(', ')}`)]),
    ...problems.map((text) => problem('graphs', text, remedyFor(text))),
    ...warnings.map((text) => warning('graphs', text, 'keep shared code free of state')),
  ];
}
