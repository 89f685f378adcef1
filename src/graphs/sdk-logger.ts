/**
 * The logger that `getLogger()` of the client library returns. The library reads it from a global and throws if it is
 * missing, so it is set before any project module is imported.
 */
const GLOBAL_NAME = Symbol.for('langgraph.api.sdk-logger');

/** The library's log levels, most severe first. */
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

type Logger = Record<string, (...args: unknown[]) => Logger>;

/** Sets the global logger, which writes to the console, unless one exists. */
export function publishSdkLogger(): void {
  if (GLOBAL_NAME in globalThis) return;
  const logger: Logger = {};
  for (const level of LEVELS)
    logger[level] = (...args) => {
      const method = level === 'error' || level === 'warn' || level === 'debug' ? level : 'info';
      console[method](`${level}:`, ...args);
      return logger;
    };
  Object.defineProperty(globalThis, GLOBAL_NAME, { value: logger, configurable: true });
}
