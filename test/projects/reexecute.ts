/** Executes all runs of a project again, offline: its threads are exported, and the program checks the files. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFile } from '../../src/archive/to-file.ts';
import { exportThread } from '../../src/archive/write.ts';
import { storeAt } from '../../src/open-store.ts';
import type { StartedProject } from './compare.ts';

/** Projects whose one run cannot be executed again, with the reason that the program gives. */
const UNTRIED: Readonly<Record<string, RegExp>> = {
  'mcp-tools': /untried .* a child process \(\S+\)/,
};

/** Ends the server of the projects. */
export async function assertReexecutes(project: StartedProject, names: readonly string[]): Promise<void> {
  const { config, folder, programs, server, env } = project;
  await server().end('SIGTERM');
  const files = await exportThreads(
    env['PLATFORM_DATABASE_URL'] ?? join(programs.dir, 'data'),
    join(programs.dir, 'exports'),
  );
  const args = ['replay', '--check', '--config', config, ...files];
  const { code, output } = await programs.run({ args, cwd: folder, env });
  const reasons = names.flatMap((name) => UNTRIED[name] ?? []);
  const total = /^\d+ runs: .*$/m.exec(output)?.[0] ?? '';
  // A run that failed when it was recorded fails again.
  assert.equal(code, total.includes(' fails') ? 1 : reasons.length > 0 ? 3 : 0, output);
  assert.doesNotMatch(total, / different| mended/, output);
  assert.equal(Number(/(\d+) untried/.exec(total)?.[1] ?? 0), reasons.length, output);
  for (const reason of reasons) assert.match(output, reason);
}

/** Returns the files of all threads of the log. */
async function exportThreads(data: string, folder: string): Promise<string[]> {
  await mkdir(folder);
  const store = storeAt(data);
  const past = await store.openPast();
  const threads = await past.past.threads();
  await past.close();
  const files: string[] = [];
  for (const { thread_id: threadId } of threads) {
    const source = await store.openSource(threadId);
    const file = join(folder, `${threadId}.rewound`);
    try {
      const chunks = exportThread(source, { threadId, exportedAt: 0, libraries: {} });
      await writeFile(file, chunks, { replace: false });
    } finally {
      await source.close();
    }
    files.push(file);
  }
  return files;
}
