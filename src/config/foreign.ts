/**
 * Checks variables of other servers for features that this server lacks. A variable that protects data is refused,
 * because ignoring it would be unsafe; a variable that only names another storage gives a warning.
 */
import type { Environment } from './setting.ts';

const DATABASE_VARIABLES = ['DATABASE_URI', 'POSTGRES_URI', 'POSTGRES_URI_CUSTOM'];
const OTHER_STORAGE_VARIABLES = ['REDIS_URI', 'REDIS_URI_CUSTOM', 'LS_MONGODB_URI'];

export function checkForeign(env: Environment, problems: string[], warnings: string[]): void {
  for (const name of ['LANGGRAPH_AES_KEY', 'LANGGRAPH_AES_JSON_KEYS'])
    if (env[name]) problems.push(`${name}: nothing is encrypted here; keep the data on an encrypted volume`);
  const auth = env['LANGGRAPH_AUTH_TYPE'];
  if (auth !== undefined && auth !== '' && auth !== 'noop')
    problems.push(`LANGGRAPH_AUTH_TYPE: expected noop, found "${auth}"; name a handler under "auth" instead`);
  const backend = env['LS_DEFAULT_CHECKPOINTER_BACKEND'];
  if (backend !== undefined && backend !== '' && backend !== 'default')
    problems.push(`LS_DEFAULT_CHECKPOINTER_BACKEND: expected default, found "${backend}"`);
  for (const name of DATABASE_VARIABLES)
    if (env[name])
      warnings.push(`${name} has no effect: PLATFORM_DATABASE_URL names the database of the log`);
  for (const name of OTHER_STORAGE_VARIABLES)
    if (env[name]) warnings.push(`${name} has no effect: everything is kept in the log`);
}
