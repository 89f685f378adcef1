/** The `http` block of the configuration file, merged with `CORS_ALLOW_ORIGINS` and `MOUNT_PREFIX`. */
import { z } from 'zod';
import { compilePattern } from '../kernel/pattern.ts';
import { exportSpec, type ExportSpec } from './export-spec.ts';
import { origin, PREFIX } from './texts.ts';
import type { Settings } from './settings.ts';

/** Route groups that `http.disable_<group>` removes. */
export const GROUPS = [
  'assistants',
  'threads',
  'runs',
  'crons',
  'store',
  'mcp',
  'a2a',
  'ui',
  'meta',
] as const;
export type Group = (typeof GROUPS)[number];

/** Header name patterns; `*` matches any characters. `exclude` wins over `include`. */
export interface HeaderRule {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** A `HeaderRule` whose absent `include` means the default set of headers. */
export interface InheritanceRule {
  readonly include?: readonly string[];
  readonly exclude: readonly string[];
}

export interface CorsConfig {
  /** Either `*` alone, or origins. */
  readonly origins: readonly string[];
  /** Must match the whole origin; wins over `origins`. */
  readonly originRegex?: string;
  /** Empty: the methods of this interface. */
  readonly methods: readonly string[];
  /** Empty: all that a page requests. */
  readonly headers: readonly string[];
  readonly credentials: boolean;
  /** Additional to the headers that clients of this interface need. */
  readonly expose: readonly string[];
  readonly maxAgeSecs: number;
}

export interface HttpConfig {
  /** The project's own app, called before the built-in routes. */
  readonly app?: ExportSpec;
  /** Routes of that app require authentication too. */
  readonly customRouteAuth: boolean;
  readonly order: 'middleware_first' | 'auth_first';
  readonly cors: CorsConfig;
  readonly disabled: ReadonlySet<Group>;
  /** Empty, or `/` and segments without a slash at the end. */
  readonly mountPrefix: string;
  /** Headers that a run gets in its `configurable`. */
  readonly configurableHeaders: InheritanceRule;
  /** Headers that appear in request log lines. */
  readonly loggingHeaders: HeaderRule;
  /** Run streams end with an `end` event unless the request says otherwise. */
  readonly streamEnd: boolean;
}

const flag = (description: string) =>
  z.boolean('expected true or false').default(false).describe(description);
const names = (description: string, form = 'texts') =>
  z
    .array(
      z.string('expected a string').min(1, 'expected at least 1 character').meta({ form }),
      'expected a list of strings',
    )
    .optional()
    .describe(description);
const PATTERNS = 'header names with `*`';
const headerRule = (description: string, included: string) =>
  z
    .looseObject(
      {
        includes: names(included, PATTERNS),
        excludes: names('Headers that stay out, whatever else is said.', PATTERNS),
        include: names('Another name of `includes`.', PATTERNS),
        exclude: names('Another name of `excludes`.', PATTERNS),
      },
      'expected an object with include and exclude',
    )
    .prefault({})
    .describe(description);
const regex = z.string('expected a regular expression').superRefine((text, context) => {
  try {
    compilePattern(text);
  } catch (error) {
    context.addIssue({
      code: 'custom',
      message: `expected a regular expression (${(error as Error).message})`,
    });
  }
});
const corsBlock = z.looseObject(
  {
    allow_origins: z
      .array(origin, 'expected a list of origins')
      .default(['*'])
      .describe('Origins of pages that may call; `*` for all.'),
    allow_origin_regex: regex
      .optional()
      .describe('Has to match the whole origin; wins over `allow_origins`.'),
    allow_methods: names('Methods that pages may use; those of the interface without.'),
    allow_headers: names('Headers that pages may send; all that they ask for without.'),
    allow_credentials: flag('Pages may send cookies; has no effect while every origin is allowed.'),
    expose_headers: names('Headers that pages may read, besides those that clients need.'),
    max_age: z
      .int('expected a number of seconds')
      .min(0, 'expected 0 or more')
      .default(600)
      .describe('Seconds that a browser remembers the answer.'),
  },
  'expected an object',
);

export const httpBlock = z.looseObject(
  {
    app: exportSpec
      .optional()
      .describe(
        'A Hono app, whose middlewares wrap the built-in routes, or any object with `fetch`, asked first.',
      ),
    enable_custom_route_auth: flag('Routes of that app pass through authentication, too.'),
    middleware_order: z
      .enum(['middleware_first', 'auth_first'], 'expected "middleware_first" or "auth_first"')
      .default('middleware_first')
      .describe('Whether that app or authentication comes first.'),
    cors: corsBlock.prefault({}).describe('Pages of other origins.'),
    mount_prefix: z
      .string('expected a path')
      .regex(PREFIX, 'expected a path such as "/agents"')
      .meta({ form: 'path' })
      .default('')
      .describe('Everything lies below it; `/ok` answers at the root, too.'),
    configurable_headers: headerRule(
      'Headers of a request that its run finds in `configurable`; see below.',
      'Headers that pass, in place of the default list.',
    ),
    logging_headers: headerRule(
      'Headers that request log lines show.',
      'Headers that are shown; none without.',
    ),
    stream_end: flag('The last event of a run stream is `end`, with run id and status; see `?stream_end`.'),
    disable_assistants: flag('The group answers 404.'),
    disable_threads: flag('The group answers 404.'),
    disable_runs: flag('The group answers 404, and so do crons.'),
    disable_crons: flag('The group answers 404, and no slot starts a run.'),
    disable_store: flag('The group answers 404.'),
    disable_mcp: flag('The group answers 404.'),
    disable_a2a: flag('The group answers 404.'),
    disable_ui: flag('The group answers 404.'),
    disable_meta: flag('`/`, `/info`, `/metrics`, `/docs`, `/openapi.json` answer 404; `/ok` stays.'),
    disable_webhooks: flag('Runs are accepted and executed, and no webhook is sent.'),
    max_body_bytes: z
      .int('expected a number of bytes')
      .min(1024)
      .default(16 * 2 ** 20)
      .describe('Largest body of a request.'),
  },
  'expected an object',
);

export type HttpBlock = z.output<typeof httpBlock>;

/** `CORS_ALLOW_ORIGINS` and `MOUNT_PREFIX` of the environment win over the file. */
export function toHttpConfig(
  block: HttpBlock,
  settings: Settings,
  warnings: string[],
  toSpec: (spec: string) => ExportSpec,
): HttpConfig {
  const { cors } = block;
  const origins = settings.read('CORS_ALLOW_ORIGINS') ?? cors.allow_origins;
  const allowsAllOrigins = cors.allow_origin_regex === undefined && origins.includes('*');
  if (allowsAllOrigins && cors.allow_credentials)
    warnings.push(
      'http.cors.allow_credentials has no effect while every origin is allowed: name the origins that may use it',
    );
  const prefix = settings.read('MOUNT_PREFIX') ?? block.mount_prefix;
  return {
    ...(block.app !== undefined && { app: toSpec(block.app) }),
    customRouteAuth: block.enable_custom_route_auth,
    order: block.middleware_order,
    cors: {
      origins: origins.includes('*') ? ['*'] : origins,
      ...(cors.allow_origin_regex !== undefined && { originRegex: cors.allow_origin_regex }),
      methods: withoutStar(cors.allow_methods),
      headers: withoutStar(cors.allow_headers),
      credentials: cors.allow_credentials && !allowsAllOrigins,
      expose: cors.expose_headers ?? [],
      maxAgeSecs: cors.max_age,
    },
    disabled: disabledGroups((group) => block[`disable_${group}`]),
    mountPrefix: prefix.replace(/\/$/, ''),
    configurableHeaders: toInheritanceRule(block.configurable_headers),
    loggingHeaders: toRule(block.logging_headers),
    streamEnd: block.stream_end,
  };
}

/** An empty list means all values, so a list with `*` becomes empty. */
const withoutStar = (given: readonly string[] | undefined): readonly string[] =>
  given === undefined || given.includes('*') ? [] : given;

function toRule(given: z.output<ReturnType<typeof headerRule>>): HeaderRule {
  return {
    include: [...(given?.include ?? []), ...(given?.includes ?? [])],
    exclude: [...(given?.exclude ?? []), ...(given?.excludes ?? [])],
  };
}

/** Disabling runs also disables crons, which start runs. */
function disabledGroups(isDisabled: (group: Group) => boolean): ReadonlySet<Group> {
  return new Set(GROUPS.filter((group) => isDisabled(group) || (group === 'crons' && isDisabled('runs'))));
}

function toInheritanceRule(given: z.output<ReturnType<typeof headerRule>>): InheritanceRule {
  const { include, exclude } = toRule(given);
  const namesSome = given?.include !== undefined || given?.includes !== undefined;
  return namesSome ? { include, exclude } : { exclude };
}
