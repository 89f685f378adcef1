/** Settings of the interface. */
import { z } from 'zod';
import { compilePattern } from '../kernel/pattern.ts';
import { exportSpec } from './export-spec.ts';
import { choice, list, off, text, whole } from './kinds.ts';
import { group, setting, withDetails, withForm } from './setting.ts';

/** A `HeaderRule` whose absent `include` means the default set of headers. */
export interface InheritanceRule {
  readonly include?: readonly string[];
  readonly exclude: readonly string[];
}

/** Header name patterns; `*` matches any characters. `exclude` wins over `include`. */
export type HeaderRule = Required<InheritanceRule>;

const names = (form = 'texts') => {
  const name = z.string('expected a string').min(1, 'expected at least 1 character');
  return list(withDetails(name, { form }), 'strings');
};
/** An empty list means all values, and so does a list with `*`. */
const namesOrAll = () => names().transform((all): readonly string[] => (all.includes('*') ? [] : all));
const ORIGIN = 'expected "*" or an origin such as "https://app.example"';
const origin = withForm(
  z.string(ORIGIN).regex(/^(\*|[A-Za-z][A-Za-z\d+.-]*:\/\/[^/\s]+)$/, ORIGIN),
  'origins',
);
const origins = list(origin, 'origins').transform((all) => (all.includes('*') ? ['*'] : all));
const prefix = text('path')
  .regex(/^(\/[\w.~-]+)*\/?$/, 'expected a path such as "/agents"')
  .transform((path) => path.replace(/\/$/, ''));
const regex = z.string('expected a regular expression').superRefine((pattern, context) => {
  try {
    compilePattern(pattern);
  } catch (error) {
    const message = `expected a regular expression (${(error as Error).message})`;
    context.addIssue({ code: 'custom', message });
  }
});

const patterns = () => names('header names with `*`').optional();
// prettier-ignore
const headerRule = (included: string) => z.object({
  includes: patterns().describe(included),
  excludes: patterns().describe('Headers that stay out, whatever else is said.'),
  include: patterns().describe('Another name of `includes`.'),
  exclude: patterns().describe('Another name of `excludes`.'),
}, 'expected an object with include and exclude').transform(
  ({ include, includes, exclude = [], excludes = [] }): InheritanceRule => ({
    ...((include ?? includes) && { include: [...(include ?? []), ...(includes ?? [])] }),
    exclude: [...exclude, ...excludes],
  }),
);
const configurableHeaders = headerRule('Headers that pass, in place of the default list.').prefault({});
const loggingHeaders = headerRule('Headers that are shown; none without.')
  .transform(({ include = [], exclude }): HeaderRule => ({ include, exclude }))
  .prefault({});

// prettier-ignore
const cors = group({
  origins: setting('CORS_ALLOW_ORIGINS http.cors.allow_origins', origins.prefault(['*']), 'Origins of pages that may call; `*` for all.'),
  originRegex: setting('http.cors.allow_origin_regex', regex.optional(), 'Has to match the whole origin; wins over `allow_origins`.'),
  methods: setting('http.cors.allow_methods', namesOrAll().prefault([]), 'Methods that pages may use; those of the interface without.'),
  headers: setting('http.cors.allow_headers', namesOrAll().prefault([]), 'Headers that pages may send; all that they ask for without.'),
  credentials: setting('http.cors.allow_credentials', off(), 'Pages may send cookies; has no effect while every origin is allowed.'),
  expose: setting('http.cors.expose_headers', names().default([]), 'Headers that pages may read, besides those that clients need.'),
  maxAgeSecs: setting('http.cors.max_age', whole().default(600), 'Seconds that a browser remembers the answer.'),
});

// prettier-ignore
const disable = {
  assistants: setting('http.disable_assistants', off(), 'The group answers 404.'),
  threads: setting('http.disable_threads', off(), 'The group answers 404.'),
  runs: setting('http.disable_runs', off(), 'The group answers 404, and so do crons.'),
  crons: setting('http.disable_crons', off(), 'The group answers 404, and no slot starts a run.'),
  store: setting('http.disable_store', off(), 'The group answers 404.'),
  mcp: setting('http.disable_mcp', off(), 'The group answers 404.'),
  a2a: setting('http.disable_a2a', off(), 'The group answers 404.'),
  ui: setting('http.disable_ui', off(), 'The group answers 404.'),
  studio: setting('http.disable_studio', off(), '`/studio` answers 404, and `/` does not redirect browsers to it.'),
  meta: setting('http.disable_meta', off(), '`/`, `/info`, `/metrics`, `/docs`, `/openapi.json` answer 404; `/ok` stays.'),
};

/** Route groups that `http.disable_<group>` removes. */
export type Group = keyof typeof disable;
export const GROUPS = Object.keys(disable) as Group[];

// prettier-ignore
const members = group({
  app: setting('http.app', exportSpec.optional(), 'A Hono app, whose middlewares wrap the built-in routes, or any object with `fetch`, asked first.'),
  customRouteAuth: setting('http.enable_custom_route_auth', off(), 'Routes of that app pass through authentication, too.'),
  order: setting('http.middleware_order', choice('middleware_first', 'auth_first').default('middleware_first'), 'Whether that app or authentication comes first.'),
  cors,
  mountPrefix: setting('MOUNT_PREFIX http.mount_prefix', prefix.prefault(''), 'Everything lies below it; `/ok` answers at the root, too.'),
  configurableHeaders: setting('http.configurable_headers', configurableHeaders, 'Headers of a request that its run finds in `configurable`; see below.'),
  loggingHeaders: setting('http.logging_headers', loggingHeaders, 'Headers that request log lines show.'),
  streamEnd: setting('http.stream_end', off(), 'The last event of a run stream is `end`, with run id and status; see `?stream_end`.'),
  disable: group(disable),
});

export const http = members.transform(({ disable, ...others }) => ({
  ...others,
  // A cron could start no run where runs are disabled.
  disabled: new Set(GROUPS.filter((each) => disable[each] || (each === 'crons' && disable.runs))),
}));

export type HttpConfig = z.output<typeof http>;
export type CorsConfig = HttpConfig['cors'];
