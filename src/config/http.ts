/** The `http` block of the configuration file, and the variables that have a say in it. */
import { z } from 'zod';
import { compilePattern } from '../kernel/pattern.ts';
import { exportSpec, type ExportSpec } from './export-spec.ts';
import type { Settings } from './settings.ts';

/** Route groups that `http.disable_<group>` takes away. */
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

/** Which headers, by name; `*` stands for any characters. What is excluded stays out, whatever else is said. */
export interface HeaderRule {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** As `HeaderRule`; without `include` the default set of headers. */
export interface InheritanceRule {
  readonly include?: readonly string[];
  readonly exclude: readonly string[];
}

export interface CorsConfig {
  /** `*` alone, or origins. */
  readonly origins: readonly string[];
  /** Has to match the whole origin; wins over `origins`. */
  readonly originRegex?: string;
  /** Empty: those that this interface uses. */
  readonly methods: readonly string[];
  /** Empty: whatever a page asks for. */
  readonly headers: readonly string[];
  readonly credentials: boolean;
  /** Besides those that clients of this interface need. */
  readonly expose: readonly string[];
  readonly maxAgeSecs: number;
}

export interface HttpConfig {
  /** The project's own app, asked before the built-in routes. */
  readonly app?: ExportSpec;
  /** Routes of that app pass through authentication too. */
  readonly customRouteAuth: boolean;
  readonly order: 'middleware_first' | 'auth_first';
  readonly cors: CorsConfig;
  readonly disabled: ReadonlySet<Group>;
  /** Empty, or `/` and segments without a slash at the end. */
  readonly mountPrefix: string;
  /** Headers that runs find in their `configurable`. */
  readonly configurableHeaders: InheritanceRule;
  /** Headers that request log lines show. */
  readonly loggingHeaders: HeaderRule;
}

const flag = z.boolean('expected true or false').optional();
const names = z
  .array(z.string('expected a string').min(1, 'expected at least 1 character'), 'expected a list of strings')
  .optional();
const headerRule = z
  .looseObject(
    { include: names, includes: names, exclude: names, excludes: names },
    'expected an object with include and exclude',
  )
  .optional();
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
const PREFIX = /^(\/[\w.~-]+)*\/?$/;
const origin = z
  .string('expected an origin')
  .regex(/^(\*|[a-z][a-z\d+.-]*:\/\/[^/\s]+)$/i, 'expected "*" or an origin such as "https://app.example"');

export const httpBlock = z.looseObject(
  {
    /** `"<file>:<variable>"` of a Hono app, or of any object with `fetch`. */
    app: exportSpec.optional(),
    enable_custom_route_auth: flag,
    middleware_order: z
      .enum(['middleware_first', 'auth_first'], 'expected "middleware_first" or "auth_first"')
      .optional(),
    cors: z
      .looseObject(
        {
          allow_origins: z.array(origin, 'expected a list of origins').optional(),
          allow_origin_regex: regex.optional(),
          allow_methods: names,
          allow_headers: names,
          allow_credentials: flag,
          expose_headers: names,
          /** Seconds. */
          max_age: z.int('expected a number of seconds').min(0, 'expected 0 or more').optional(),
        },
        'expected an object',
      )
      .optional(),
    mount_prefix: z.string('expected a path').regex(PREFIX, 'expected a path such as "/agents"').optional(),
    configurable_headers: headerRule,
    logging_headers: headerRule,
    disable_assistants: flag,
    disable_threads: flag,
    disable_runs: flag,
    /** None is there for clients, and none that was there before starts a run. */
    disable_crons: flag,
    disable_store: flag,
    disable_mcp: flag,
    disable_a2a: flag,
    disable_ui: flag,
    /** `/`, `/info`, `/metrics`, `/docs`, `/openapi.json`; `/ok` stays. */
    disable_meta: flag,
    /** Runs are accepted and executed, and no webhook is sent. */
    disable_webhooks: flag,
    /** Largest request body in bytes. */
    max_body_bytes: z.int('expected a number of bytes').min(1024).optional(),
  },
  'expected an object',
);

export type HttpBlock = z.output<typeof httpBlock>;

export const HTTP_KEYS = [
  'app',
  'enable_custom_route_auth',
  'middleware_order',
  ...['origins', 'origin_regex', 'methods', 'headers', 'credentials'].map((key) => `cors.allow_${key}`),
  'cors.expose_headers',
  'cors.max_age',
  'mount_prefix',
  ...['configurable_headers', 'logging_headers'].flatMap((key) =>
    ['include', 'includes', 'exclude', 'excludes'].map((part) => `${key}.${part}`),
  ),
  ...[...GROUPS, 'webhooks'].map((group) => `disable_${group}`),
  'max_body_bytes',
].map((key) => `http.${key}`);

/** The environment's `CORS_ALLOW_ORIGINS` and `MOUNT_PREFIX` win over the file. */
export function toHttpConfig(
  block: HttpBlock,
  settings: Settings,
  problems: string[],
  warnings: string[],
  toSpec: (spec: string) => ExportSpec,
): HttpConfig {
  const { cors = {} } = block;
  const origins = settings.list('CORS_ALLOW_ORIGINS', cors.allow_origins ?? ['*']);
  for (const each of origins)
    if (!origin.safeParse(each).success)
      problems.push(`CORS_ALLOW_ORIGINS: expected origins or "*", separated by commas, found "${each}"`);
  const anybody = cors.allow_origin_regex === undefined && origins.includes('*');
  if (anybody && cors.allow_credentials === true)
    warnings.push(
      'http.cors.allow_credentials has no effect while every origin is allowed: name the origins that may use it',
    );
  const prefix = settings.text('MOUNT_PREFIX', block.mount_prefix ?? '');
  if (!PREFIX.test(prefix))
    problems.push(`MOUNT_PREFIX: expected a path such as "/agents", found "${prefix}"`);
  return {
    ...(block.app !== undefined && { app: toSpec(block.app) }),
    customRouteAuth: block.enable_custom_route_auth === true,
    order: block.middleware_order ?? 'middleware_first',
    cors: {
      origins: origins.includes('*') ? ['*'] : origins,
      ...(cors.allow_origin_regex !== undefined && { originRegex: cors.allow_origin_regex }),
      methods: withoutStar(cors.allow_methods),
      headers: withoutStar(cors.allow_headers),
      credentials: cors.allow_credentials === true && !anybody,
      expose: cors.expose_headers ?? [],
      maxAgeSecs: cors.max_age ?? 600,
    },
    disabled: disabledGroups((group) => block[`disable_${group}`] === true),
    mountPrefix: prefix.replace(/\/$/, ''),
    configurableHeaders: toInheritanceRule(block.configurable_headers),
    loggingHeaders: toRule(block.logging_headers),
  };
}

/** A star means all, which is what an empty list means. */
const withoutStar = (given: readonly string[] | undefined): readonly string[] =>
  given === undefined || given.includes('*') ? [] : given;

function toRule(given: z.output<typeof headerRule>): HeaderRule {
  return {
    include: [...(given?.include ?? []), ...(given?.includes ?? [])],
    exclude: [...(given?.exclude ?? []), ...(given?.excludes ?? [])],
  };
}

/** Crons start runs: they go with them. */
function disabledGroups(isDisabled: (group: Group) => boolean): ReadonlySet<Group> {
  return new Set(GROUPS.filter((group) => isDisabled(group) || (group === 'crons' && isDisabled('runs'))));
}

function toInheritanceRule(given: z.output<typeof headerRule>): InheritanceRule {
  const { include, exclude } = toRule(given);
  const namesSome = given?.include !== undefined || given?.includes !== undefined;
  return namesSome ? { include, exclude } : { exclude };
}
