/** Which operations no handler decides about: they are open to every authenticated caller. */
import type { EventName } from './auth.ts';
import type { AuthHandler } from './handler.ts';

/** Complete, because a missing or unknown one does not compile. */
const EVENTS: Readonly<Record<EventName, true>> = {
  ...{ 'threads:create': true, 'threads:read': true, 'threads:update': true, 'threads:delete': true },
  ...{ 'threads:search': true, 'threads:create_run': true },
  ...{ 'assistants:create': true, 'assistants:read': true, 'assistants:update': true },
  ...{ 'assistants:delete': true, 'assistants:search': true },
  ...{ 'crons:create': true, 'crons:read': true, 'crons:update': true, 'crons:delete': true },
  ...{ 'crons:search': true },
  ...{ 'store:put': true, 'store:get': true, 'store:search': true, 'store:list_namespaces': true },
  ...{ 'store:delete': true },
};

export const EVENT_NAMES: readonly EventName[] = Object.keys(EVENTS) as EventName[];

/** The keys that an event is looked up under. Only the first that has a handler counts; broader ones add nothing. */
export function lookupKeys(event: EventName): string[] {
  const [resource = '', action = ''] = event.split(':');
  return [event, resource, `*:${action}`, '*'];
}

/** The events that no handler covers, in a fixed order. Throws what a broken auth object makes of the question. */
export const uncovered = (handler: AuthHandler): EventName[] =>
  EVENT_NAMES.filter((event) => lookupKeys(event).every((key) => handler.callback(key) === undefined));
