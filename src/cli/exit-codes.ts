/**
 * Exit codes of the process; `rewound --help` prints them. A cause has the same code in every command: an error's is that of
 * its name or system code, or of its cause's.
 */
export const EXIT_OK = 0;
/** A comparison or check found a difference, or the work failed. */
export const EXIT_DIFFERENT = 1;
/** Wrong command, option or configuration, or what is to be written exists already. */
export const EXIT_USAGE = 2;
/** Something that the work needs is missing, damaged or in use. */
export const EXIT_UNAVAILABLE = 3;
/** The disk failed, or the outcome of the last commit is unknown. */
export const EXIT_POISONED = 70;

const CODES: Readonly<Record<string, number>> = {
  ConfigError: EXIT_USAGE,
  ...Object.fromEntries(
    [
      ...[
        'Unavailable',
        'LogAway',
        'ConnectionLost',
        'RowsOutdated',
        'DataDirectoryBusy',
        'BackupDamaged',
        'LogIncomplete',
      ],
      ...[
        'NoFile',
        'ExportRefused',
        'NothingToExport',
        'UnreadableEvent',
        'DamagedRow',
        'UnreadableRecording',
      ],
      ...['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM', 'EADDRINUSE', 'ECONNREFUSED', 'SQLITE_BUSY'],
    ].map((name) => [name, EXIT_UNAVAILABLE]),
  ),
  TooLarge: EXIT_DIFFERENT,
  ...Object.fromEntries(
    ['DiskFailed', 'LogFull', 'LogUnavailable', 'ENOSPC', 'EDQUOT', 'SQLITE_FULL'].map((name) => [
      name,
      EXIT_POISONED,
    ]),
  ),
};

/** Errors without a code of their own are those of arguments. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandFailed) return error.exitCode;
  if (!(error instanceof Error)) return EXIT_USAGE;
  // An import that broke, and could not be undone either: the next start does that.
  if (error instanceof AggregateError) return exitCodeOf(error.errors[0]);
  const { name, code, cause } = error as NodeJS.ErrnoException;
  return CODES[name] ?? CODES[code ?? ''] ?? (cause === undefined ? EXIT_USAGE : exitCodeOf(cause));
}

/** An error of a command with an exit code of its own. */
export class CommandFailed extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandFailed';
    this.exitCode = exitCode;
  }
}
