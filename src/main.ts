/** The program's entry: the only module that reads command-line arguments and signals. */
import { runCommandLine } from './cli/command-line.ts';
import { exitCodeOf } from './cli/exit-codes.ts';
import type { Host } from './cli/host.ts';
import { missingLibraryText } from './kernel/missing-library.ts';
import { ConfigError } from './config/config.ts';

const host: Host = {
  env: process.env,
  cwd: process.cwd(),
  columns: process.stdout.columns,
  errorColumns: process.stderr.columns,
  readIn: () => process.stdin,
  print: (line) => console.log(line),
  writeOut: (bytes) =>
    new Promise((resolve, reject) =>
      process.stdout.write(bytes, (error) => (error ? reject(error) : resolve())),
    ),
  printError: (line) => console.error(line),
  writeError: (text) => void process.stderr.write(text),
  onStopSignal(listener) {
    process.on('SIGTERM', listener);
    process.on('SIGINT', listener);
  },
  endBy(signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  },
};

try {
  const code = await runCommandLine(process.argv.slice(2), host);
  // Exits explicitly, because project code may hold the process open; output is flushed first.
  if (code !== undefined) process.stdout.write('', () => process.exit(code));
} catch (error) {
  if (error instanceof ConfigError) for (const problem of error.problems) console.error(problem);
  else console.error(missingLibraryText(error) ?? (error instanceof Error ? error.message : error));
  process.exit(process.exitCode ?? exitCodeOf(error));
}
