/** The block `webhooks` of the configuration file. */
import { z } from 'zod';
import type { Environment, Settings } from './settings.ts';

export interface WebhooksConfig {
  /** False: runs are accepted and executed, whatever webhook they name, and nothing is sent. */
  readonly enabled: boolean;
  readonly url: {
    readonly allowPrivate: boolean;
    readonly requireHttps: boolean;
    readonly allowedDomains: readonly string[];
    readonly allowedPorts: readonly number[];
    readonly maxLength: number;
  };
  /** `whsec_<base64>`; all of them sign. */
  readonly secrets: readonly string[];
  /** Sent with every attempt; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Members of the body besides `run_id`; undefined: all. */
  readonly payloadFields?: readonly string[];
  /** How long an attempt may take. */
  readonly timeoutMs: number;
  /** Between the attempts of a delivery, before jitter; one more attempt than there are pauses. Undefined: as built in. */
  readonly pausesMs?: readonly number[];
  /** Attempts under way to one host. */
  readonly perHost: number;
  /** How long the body of what was delivered is kept to be sent again. */
  readonly keepMs: number;
}

const PAYLOAD_FIELDS = [
  ...['run_id', 'thread_id', 'assistant_id', 'created_at', 'updated_at', 'status', 'metadata', 'kwargs'],
  ...['multitask_strategy', 'run_started_at', 'run_ended_at', 'webhook_sent_at', 'values', 'error'],
] as const;

/** What the protocol or the connection sets. */
const OWN_HEADERS =
  /^(content-.*|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|webhook-.*)$/i;

const DOMAIN = 'expected a host such as "hooks.example.com", or "*.example.com" for what lies below it';
const domain = z
  .string(DOMAIN)
  .regex(/^(\*\.)?[^\s/:*?#@\\]+$/, DOMAIN)
  .refine((text) => URL.canParse(`http://${text.replace(/^\*\./, '')}`), DOMAIN);
const port = z.int('expected a port').min(1, 'expected a port').max(65_535, 'expected a port');
const flag = z.boolean('expected true or false').optional();
const SECRET = 'expected "whsec_" and 24 to 64 bytes as base64';
const seconds = z.number('expected seconds').positive('expected seconds above 0').max(31_536_000);

export const webhooksBlock = z.looseObject(
  {
    /** Only variables whose names begin with this may be used in `headers`. */
    env_prefix: z.string('expected a text').min(1, 'expected at least 1 character').optional(),
    /** Values may hold `${{ env.NAME }}`. */
    headers: z
      .record(
        z
          .string()
          .regex(/^[!#$%&'*+.^_`|~\w-]+$/, 'expected the name of a header')
          .refine((name) => !OWN_HEADERS.test(name), 'this header is set by the server'),
        z.string('expected a text'),
        'expected an object of header names and texts',
      )
      .optional(),
    secrets: z
      .array(z.string(SECRET).refine(isSecret, SECRET), `${SECRET}, in a list`)
      .max(10, 'expected at most 10')
      .optional(),
    /** Members of the body; all when left out. */
    payload_fields: z
      .array(
        z.enum(PAYLOAD_FIELDS, `expected one of ${PAYLOAD_FIELDS.join(', ')}`),
        'expected a list of fields',
      )
      .optional(),
    /** Seconds an attempt may take. */
    timeout_secs: seconds.optional(),
    /** Seconds between the attempts of a delivery. */
    retry_pauses_secs: z.array(seconds, 'expected a list of seconds').max(100).optional(),
    /** Attempts under way to one host. */
    per_host: z.int('expected a whole number').min(1).max(64).optional(),
    /** How long what was delivered can be sent again. */
    keep_hours: z.number('expected hours').min(0, 'expected 0 or more').max(87_600).optional(),
    url: z
      .looseObject(
        {
          /** `false` allows loopback and private receivers, and paths of this server: for development. */
          disable_loopback: flag,
          require_https: flag,
          allowed_domains: z.array(domain, 'expected a list of hosts').optional(),
          allowed_ports: z.array(port, 'expected a list of ports').optional(),
          max_url_length: z.int('expected a length').min(1).max(65_536).optional(),
        },
        'expected an object',
      )
      .optional(),
  },
  'expected an object',
);

export const WEBHOOK_KEYS = [
  ...['env_prefix', 'secrets', 'payload_fields', 'timeout_secs', 'retry_pauses_secs', 'per_host'],
  ...['keep_hours', 'headers'],
  ...['disable_loopback', 'require_https', 'allowed_domains', 'allowed_ports', 'max_url_length'].map(
    (key) => `url.${key}`,
  ),
].map((key) => `webhooks.${key}`);

const ENV_PREFIX = 'LG_WEBHOOK_';
const PLACEHOLDER = /\$\{\{\s*env\.([^}\s]*)\s*\}\}/g;

/** The environment wins over the file. What is wrong is told in `problems`, without the secrets themselves. */
export function toWebhooksConfig(
  block: z.output<typeof webhooksBlock>,
  enabled: boolean,
  {
    settings,
    env,
    path,
    problems,
  }: { settings: Settings; env: Environment; path: string; problems: string[] },
): WebhooksConfig {
  const secrets = settings.list('PLATFORM_WEBHOOK_SECRET', block.secrets ?? []);
  if (!secrets.every(isSecret)) problems.push(`PLATFORM_WEBHOOK_SECRET: ${SECRET}, separated by commas`);
  const prefix = block.env_prefix ?? ENV_PREFIX;
  const headers = Object.entries(block.headers ?? {}).map(([name, template]) => {
    const report = (problem: string): void =>
      void problems.push(`${path}: webhooks.headers.${name}: ${problem}`);
    const value = fill(template, prefix, env, report);
    if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value)) report('holds a character that no header may hold');
    return [name.toLowerCase(), value] as const;
  });
  const given = (block.retry_pauses_secs ?? []).map(String);
  const pauses = settings.list('PLATFORM_WEBHOOK_RETRY_PAUSES_SECS', given).map(Number);
  if (!pauses.every((pause) => pause > 0 && pause <= 31_536_000))
    problems.push('PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: expected seconds above 0, separated by commas');
  const { url = {} } = block;
  return {
    enabled,
    url: {
      allowPrivate: settings.flag('PLATFORM_ALLOW_PRIVATE_WEBHOOKS', url.disable_loopback === false),
      requireHttps: url.require_https === true,
      allowedDomains: (url.allowed_domains ?? []).map(toDomain),
      allowedPorts: url.allowed_ports ?? [],
      maxLength: url.max_url_length ?? 2048,
    },
    secrets,
    headers: Object.fromEntries(headers),
    ...(block.payload_fields && { payloadFields: block.payload_fields }),
    timeoutMs: 1000 * settings.number('PLATFORM_WEBHOOK_TIMEOUT_SECS', block.timeout_secs ?? 15, { min: 1 }),
    ...(pauses.length > 0 && { pausesMs: pauses.map((pause) => Math.max(1, Math.round(pause * 1000))) }),
    perHost: block.per_host ?? 4,
    keepMs: 3_600_000 * (block.keep_hours ?? 72),
  };
}

function isSecret(text: string): boolean {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64 ?? '', 'base64').length;
  return bytes >= 24 && bytes <= 64;
}

/** As URLs have it: lower case, names of other scripts as punycode. */
function toDomain(text: string): string {
  const [, star = '', host = ''] = /^(\*\.)?(.*?)\.?$/.exec(text) ?? [];
  return `${star}${new URL(`http://${host}`).hostname}`;
}

function fill(template: string, prefix: string, env: Environment, report: (problem: string) => void): string {
  return template.replace(PLACEHOLDER, (_, name: string) => {
    const value = env[name];
    if (!name.startsWith(prefix)) report(`env.${name}: only variables that begin with ${prefix} may be used`);
    else if (value === undefined) report(`env.${name}: the environment has no such variable`);
    return value ?? '';
  });
}
