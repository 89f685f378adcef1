/**
 * Variables of other servers of this interface that stand for something that is not here. What somebody relies on for
 * the safety of their data is refused rather than passed over; what only tells where other servers keep theirs is
 * told to have no effect.
 */
import type { Environment } from './settings.ts';

const ELSEWHERE = [
  'DATABASE_URI',
  'POSTGRES_URI',
  'POSTGRES_URI_CUSTOM',
  'REDIS_URI',
  'REDIS_URI_CUSTOM',
  'LS_MONGODB_URI',
];

export function checkForeign(env: Environment, problems: string[], warnings: string[]): void {
  for (const name of ['LANGGRAPH_AES_KEY', 'LANGGRAPH_AES_JSON_KEYS'])
    if (env[name]) problems.push(`${name}: nothing is encrypted here; keep the data on an encrypted volume`);
  const auth = env['LANGGRAPH_AUTH_TYPE'];
  if (auth !== undefined && auth !== '' && auth !== 'noop')
    problems.push(`LANGGRAPH_AUTH_TYPE: expected noop, found "${auth}"; name a handler under "auth" instead`);
  const backend = env['LS_DEFAULT_CHECKPOINTER_BACKEND'];
  if (backend !== undefined && backend !== '' && backend !== 'default')
    problems.push(`LS_DEFAULT_CHECKPOINTER_BACKEND: expected default, found "${backend}"`);
  for (const name of ELSEWHERE)
    if (env[name]) warnings.push(`${name} has no effect: everything is kept in the data directory`);
}
