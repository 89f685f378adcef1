/** The command line in the process of the test, for commands that end by themselves. */
import { exitCodeOf } from '../../src/cli/exit-codes.ts';
import { runCommandLine } from '../../src/cli/command-line.ts';

export interface Outcome {
  /** Undefined: the command goes on. */
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
  /** The bytes that it wrote to standard output. */
  readonly written: Buffer;
}

export async function runHere(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input: Uint8Array = Buffer.of(),
): Promise<Outcome> {
  const out: string[] = [];
  const err: string[] = [];
  const written: Uint8Array[] = [];
  const cwd = process.cwd();
  const running = runCommandLine(args, {
    env: { ...env },
    cwd,
    async *readIn() {
      yield input;
    },
    print: (line) => void out.push(line),
    async writeOut(bytes) {
      written.push(bytes);
      out.push(Buffer.from(bytes).toString('latin1'));
    },
    printError: (line) => void err.push(line),
    writeError: (text) => void err.push(text),
    onStopSignal: () => undefined,
    endBy: () => undefined,
  });
  const code = await running
    .catch((error: Error) => {
      throw Object.assign(error, { exitCode: exitCodeOf(error) });
    })
    // Commands that run graph code enter its project.
    .finally(() => process.chdir(cwd));
  return { code, out: out.join('\n'), err: err.join('\n'), written: Buffer.concat(written) };
}
