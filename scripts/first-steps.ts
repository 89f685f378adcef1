/**
 * `npm run first-steps`: a newcomer's first minutes. Types the commands that the README and `init` print, plants a bug in
 * the project that `init` wrote, and prints how long the first answer and the line of the bug took.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MAX_WAIT_MS = 300_000;

/** Runs a shell line until it ends, or until its output matches; rejects when it fails or takes too long. */
function type(line: string, cwd: string, until?: RegExp) {
  const child = spawn('sh', ['-c', line], { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = (): void => {
    try {
      process.kill(-child.pid!, 'SIGTERM');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // It has ended.
    }
  };
  let output = '';
  const printed = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${line} took too long:\n${output}`)), MAX_WAIT_MS);
      const look = (): void => {
        if (!pattern.test(output)) return;
        clearTimeout(timer);
        resolve(output);
      };
      for (const stream of [child.stdout, child.stderr]) stream.on('data', look);
      child.on('close', (code) => {
        clearTimeout(timer);
        if (code === 0) resolve(output);
        else reject(new Error(`${line} ended with ${code}:\n${output}`));
      });
      look();
    });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return { done: printed(until ?? /(?!)/), printed, stop };
}

/** The commands of the README's block that begins with `init`, and those that `init` then prints. */
function commandsOfReadme(folder: string): { init: string; install: string } {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, block = ''] = /```sh\n(npm run rewound -- init [^]*?)```/.exec(readme) ?? [];
  const [init = '', install = ''] = block.replaceAll('../my-agent', folder).split('\n');
  return { init: init.split(' && ')[0]!, install: install.split(' && ')[0]! };
}

const folder = join(mkdtempSync(join(tmpdir(), 'first-steps-')), 'my-agent');
const start = performance.now();
const seconds = (from: number): string => `${((performance.now() - from) / 1_000).toFixed(1)} s`;
const { init, install } = commandsOfReadme(folder);
const told = await type(init, ROOT).done;
await type(install, folder).done;
// Another program may have the port that the pages name.
const dev = type('npm run dev -- --port 0', folder, /^Watching/m);
try {
  const [, address] = /^Serving on +(\S+)$/m.exec(await dev.done)!;
  const ask = /^ {2}(curl [^]*?)$(?!\n {4})/m.exec(told)![1]!.replace('localhost:2024', address!);
  const answer = await type(ask, folder).done;
  if (!answer.includes('sunny in Oslo')) throw new Error(`found ${answer}, expected the weather of Oslo`);
  console.log(`from nothing to the first answer of one's own agent: ${seconds(start)}`);

  const file = join(folder, 'stand-in.ts');
  const source = readFileSync(file, 'utf8');
  const planted = performance.now();
  writeFileSync(file, source.replace('/weather/i.test(text)', '(text as any).macth(/weather/i)'));
  await dev.printed(/graphs reloaded/);
  await type(ask, folder).done;
  await dev.printed(/at \S*stand-in\.ts:\d+:\d+/);
  console.log(`from a planted bug to its line: ${seconds(planted)}`);
} finally {
  dev.stop();
  rmSync(join(folder, '..'), { recursive: true, force: true });
}
