/** Projects that tests serve with `dev` and change while it runs. */
import * as assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asServer, withPrograms, type ServerProgram } from './programs.ts';

/** Longer than any machine needs when nothing is waited for. */
export const GRACE_MS = 60_000;

export interface Project {
  readonly dir: string;
  readonly server: ServerProgram;
  write(name: string, text: string): void;
  /** Resolves when the program has printed `pattern` after everything that it had printed before. */
  says(pattern: RegExp): Promise<string>;
}

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** Serves a project of these files with `dev`. `withPackages`: its code finds the packages of this repository. */
export function withProject(
  files: Record<string, string>,
  use: (project: Project) => Promise<void>,
  env = {},
  { withPackages = false } = {},
): Promise<void> {
  return withPrograms(async ({ dir, launch }) => {
    const root = join(dir, 'project');
    mkdirSync(root);
    if (withPackages) symlinkSync(PACKAGES, join(root, 'node_modules'));
    const write = (name: string, text: string): void => writeFileSync(join(root, name), text);
    for (const [name, text] of Object.entries(files)) write(name, text);
    const args = ['dev', '--config', root, '--port', '0', '--data', join(dir, 'data')];
    const server = await asServer(
      launch({ args, env: { PLATFORM_SHUTDOWN_GRACE_SECS: String(GRACE_MS / 1_000), ...env } }),
    );
    await server.printed(/^Watching/m);
    let seen = server.output().length;
    await use({
      ...{ dir: root, server, write },
      async says(pattern) {
        const after = new RegExp(`^[^]{${seen},}?(${pattern.source})`);
        const [, found] = await server.printed(after);
        seen = server.output().length;
        return found!;
      },
    });
    assert.equal(await server.end('SIGTERM'), 0);
  });
}
