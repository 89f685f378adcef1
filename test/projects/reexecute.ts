/** Executes all runs of a project again, offline, from what its server recorded. */
import assert from 'node:assert/strict';
import type { StartedProject } from './compare.ts';

/** Projects whose runs cannot be executed again, with the reason that the program gives. */
const UNTRIED: Readonly<Record<string, RegExp>> = {
  'mcp-tools': /not tried: .* a child process \(spawn\) is not recorded/,
};

export async function assertReexecutes({
  name,
  config,
  folder,
  programs,
  server,
  env,
}: StartedProject): Promise<void> {
  await server().end('SIGTERM');
  const args = ['replay', '--execute', '--all', '--config', config, '--data', `${programs.dir}/data`];
  const { code, output } = await programs.run({ args, cwd: folder, env });
  const reason = UNTRIED[name];
  if (reason === undefined) assert.equal(code, 0, output);
  else {
    assert.equal(code, 3, output);
    assert.match(output, reason);
  }
}
