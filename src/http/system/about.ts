/** Answers about the server itself. They do not lie in `system.ts`, because the document needs the list of all endpoints. */
import type { EventLog } from '../../store/port/log.ts';
import type { AboutServer } from '../context.ts';
import { describeServer, type Served } from '../openapi/served.ts';
import { renderDocs } from './docs/page.ts';

export function openAbout(log: EventLog, served: Served): AboutServer {
  // Built on first request: building takes about 10 % of start-up time, and most servers never need it.
  const document = once(() => describeServer(served));
  let poisoned: string | undefined;
  log.onPoisoned((cause) => (poisoned = cause));
  return {
    document,
    docs: once(() => renderDocs(document())),
    async checkLog() {
      if (poisoned !== undefined) throw new Error(poisoned);
      await log.readAll(0, 1);
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
