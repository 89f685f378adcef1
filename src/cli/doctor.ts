/** The `doctor` command: says what keeps a project from being served, and what to do about it. */
import type { Command } from 'commander';
import { logAddressOf } from '../config/config.ts';
import type { Finding } from './doctor/finding.ts';
import { counted } from '../past/tell/text.ts';
import { EXIT_DIFFERENT, EXIT_OK } from './exit-codes.ts';
import { helpEnd } from './help-end.ts';
import type { Finish, Host } from './host.ts';
import { withJsonOption, withServerOptions, type ServerOptions } from './options.ts';

export const addDoctor = (program: Command, host: Host, finish: Finish): Command =>
  withJsonOption(
    withServerOptions(program.command('doctor')),
    'print {ok, findings: [{area, status, found, remedy}]}',
  )
    .summary('say what keeps a project from being served')
    .description(
      'Looks at configuration, environment, graphs (loads them as the server would), disk, log and port, and names a ' +
        'remedy for each finding. Writes nothing and starts no server.',
    )
    .addHelpText(
      'after',
      helpEnd(
        '0 nothing is wrong, 1 there is a problem, 2 wrong option',
        'doctor',
        'doctor --config my-project --port 8080 --json',
      ),
    )
    .action(async ({ json = false, ...options }: ServerOptions & { json?: boolean }) => {
      const findings = await examine(options, host);
      const isSound = findings.every(({ status }) => status !== 'problem');
      if (json) host.print(JSON.stringify({ ok: isSound, findings }));
      else print(findings, host);
      finish(isSound ? EXIT_OK : EXIT_DIFFERENT);
    });

async function examine(options: ServerOptions, host: Host): Promise<Finding[]> {
  const { examineCode, examineConfig, examineRuntime } = await import('./doctor/project.ts');
  const { examineDisk, examineLog } = await import('./doctor/store.ts');
  const { examinePort } = await import('./doctor/port.ts');
  const { config, findings } = examineConfig(options, host);
  if (config === undefined) return [...findings, ...examineRuntime()];
  const log = await examineLog(logAddressOf(config), config.encryptionKeys);
  return [
    ...findings,
    ...examineRuntime(),
    ...(await examineCode(config, host)),
    ...examineDisk(config.dataDir),
    ...log.findings,
    await examinePort(config, log.owner),
  ];
}

const STATUS_WIDTH = 9;
const AREA_WIDTH = 15;

function print(findings: readonly Finding[], host: Host): void {
  for (const { area, status, found, remedy } of findings) {
    const [first, ...rest] = found.split('\n');
    host.print(`${status.padEnd(STATUS_WIDTH)}${area.padEnd(AREA_WIDTH)}${first}`);
    const indent = ' '.repeat(STATUS_WIDTH + AREA_WIDTH);
    for (const line of rest) host.print(indent + line);
    if (remedy !== undefined) host.print(`${indent}→ ${remedy}`);
  }
  const count = (of: Finding['status']): number => findings.filter(({ status }) => status === of).length;
  host.print(`${counted(count('problem'), 'problem')}, ${counted(count('warning'), 'warning')}`);
}
