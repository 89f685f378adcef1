/**
 * Entries import this module first. On a Node.js that is too old for the program it runs the same command on one that
 * npm installed beside the program, or exits with one line of output. Its syntax is readable for old versions.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MIN_NODE_MAJOR = 24;
const EXIT_USAGE = 2;

const isNewEnough = (version) => Number(version.split('.')[0]) >= MIN_NODE_MAJOR;

/** Path of a Node.js in `node_modules/.bin` of a folder above this file; undefined when none is new enough. */
function findNodeBeside() {
  for (
    let folder = dirname(fileURLToPath(import.meta.url));
    folder !== dirname(folder);
    folder = dirname(folder)
  ) {
    const file = join(folder, 'node_modules/.bin/node');
    if (!existsSync(file)) continue;
    try {
      if (isNewEnough(execFileSync(file, ['-p', 'process.versions.node'], { encoding: 'utf8' }))) return file;
    } catch (error) {
      console.error(file + ': ' + error.message);
    }
  }
  return undefined;
}

/** Never resolves: the process ends with the exit code or the signal of the one that it starts. */
function runOn(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // A terminal sends SIGINT to both processes.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
  return new Promise(() => undefined);
}

const found = process.versions.node;
if (!isNewEnough(found)) {
  const node = findNodeBeside();
  if (node !== undefined) await runOn(node);
  const system = (process.platform === 'win32' ? 'win' : process.platform) + '-' + process.arch;
  console.error(
    'Node.js: found ' +
      found +
      ' (' +
      process.execPath +
      '), expected ' +
      MIN_NODE_MAJOR +
      ' or later; install it from nodejs.org or with a version manager ("nvm install ' +
      MIN_NODE_MAJOR +
      '"), or beside this program with "npm install ' +
      (system === 'darwin-arm64' ? 'node-bin-' : 'node-') +
      system +
      '@' +
      MIN_NODE_MAJOR +
      '"',
  );
  process.exit(EXIT_USAGE);
}
