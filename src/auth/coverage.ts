/** Finds the operations without a handler; they are open to every authenticated caller. */
import type { EventName } from './auth.ts';
import type { AuthHandler } from './handler.ts';

/** The type makes this list complete: a missing or unknown event does not compile. */
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

const EVENT_NAMES: readonly EventName[] = Object.keys(EVENTS) as EventName[];

/** The handler keys of an event, most specific first. Only the first key with a handler is used. */
export function lookupKeys(event: EventName): string[] {
  const [resource = '', action = ''] = event.split(':');
  return [event, resource, `*:${action}`, '*'];
}

/** The events without a handler, in a fixed order. Throws a `TypeError` for a broken auth object. */
export const uncovered = (handler: AuthHandler): EventName[] =>
  EVENT_NAMES.filter((event) => lookupKeys(event).every((key) => handler.callback(key) === undefined));
