/**
 * The logger that `getLogger()` of the client library finds. The library looks for it in a global of each thread and
 * throws when it is missing, so it is there before any module of a project is imported.
 */
const GLOBAL_NAME = Symbol.for('langgraph.api.sdk-logger');

/** The library's levels, the most severe first. */
const LEVELS = [
  'error',
  'warn',
  'help',
  'data',
  'info',
  'debug',
  'prompt',
  'http',
  'verbose',
  'input',
  'silly',
];

type Logger = Record<string, (...said: unknown[]) => Logger>;

/** Does nothing where a logger is already there. Writes to the console, as graph code itself does. */
export function publishSdkLogger(): void {
  if (GLOBAL_NAME in globalThis) return;
  const logger: Logger = {};
  for (const level of LEVELS)
    logger[level] = (...said) => {
      const method = level === 'error' || level === 'warn' || level === 'debug' ? level : 'info';
      console[method](`${level}:`, ...said);
      return logger;
    };
  Object.defineProperty(globalThis, GLOBAL_NAME, { value: logger, configurable: true });
}
