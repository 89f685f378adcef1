/** The `webhooks` block of the configuration file, merged with the environment. */
import { z } from 'zod';
import { isSecret, SECRET } from './texts.ts';
import type { Environment, Settings } from './settings.ts';

export interface WebhooksConfig {
  /** False: runs with a webhook are accepted and executed, but nothing is sent. */
  readonly enabled: boolean;
  readonly url: {
    readonly allowPrivate: boolean;
    readonly requireHttps: boolean;
    readonly allowedDomains: readonly string[];
    readonly allowedPorts: readonly number[];
    readonly maxLength: number;
  };
  /** Prefix of the variables that header templates may use. */
  readonly envPrefix: string;
  /** Secrets of the form `whsec_<base64>`; each adds a signature. */
  readonly secrets: readonly string[];
  /** Headers of every attempt; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body members besides `run_id`; undefined: all. */
  readonly payloadFields?: readonly string[];
  /** Time-out of one attempt. */
  readonly timeoutMs: number;
  /** Pauses between attempts, before jitter; one attempt more than pauses. Undefined: the built-in schedule. */
  readonly pausesMs?: readonly number[];
  /** Maximum of concurrent attempts to one host. */
  readonly perHost: number;
  /** Time for which a delivered body is kept for redelivery. */
  readonly keepMs: number;
}

const PAYLOAD_FIELDS = [
  ...['run_id', 'thread_id', 'assistant_id', 'created_at', 'updated_at', 'status', 'metadata', 'kwargs'],
  ...['multitask_strategy', 'cancel_reason', 'run_started_at', 'run_ended_at', 'webhook_sent_at', 'values'],
  ...['error', 'thread_status', 'interrupts'],
] as const;

/** Headers that the webhook protocol or the connection sets. */
const OWN_HEADERS =
  /^(content-.*|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|webhook-.*)$/i;

const DOMAIN = 'expected a host such as "hooks.example.com", or "*.example.com" for what lies below it';
const domain = z
  .string(DOMAIN)
  .regex(/^(\*\.)?[^\s/:*?#@\\]+$/, DOMAIN)
  .refine((text) => URL.canParse(`http://${text.replace(/^\*\./, '')}`), DOMAIN);
const port = z.int('expected a port').min(1, 'expected a port').max(65_535, 'expected a port');
const flag = z.boolean('expected true or false');
const MAX_SECS = 31_536_000;
const seconds = z
  .number('expected seconds')
  .positive('expected seconds above 0')
  .max(MAX_SECS)
  .meta({ form: 'numbers above 0' });

const urlBlock = z.looseObject(
  {
    disable_loopback: flag
      .default(true)
      .describe(
        'Refuses loopback and private receivers, and paths of this server; `false` is for development.',
      ),
    require_https: flag.default(false).describe('Refuses receivers without TLS.'),
    allowed_domains: z
      .array(domain.meta({ form: 'hosts, or `*.host`' }), 'expected a list of hosts')
      .default([])
      .describe('The only hosts; all without.'),
    allowed_ports: z
      .array(port.meta({ form: 'ports' }), 'expected a list of ports')
      .default([])
      .describe(
        "The only ports; without, 80, 443 and those above 1023 that are no known database's or broker's.",
      ),
    max_url_length: z.int('expected a length').min(1).max(65_536).default(2_048).describe('Characters.'),
  },
  'expected an object',
);

export const webhooksBlock = z.looseObject(
  {
    url: urlBlock.prefault({}).describe('Receivers that are allowed.'),
    secrets: z
      .array(
        z.string(SECRET).refine(isSecret, SECRET).meta({ form: '`whsec_…` keys' }),
        `${SECRET}, in a list`,
      )
      .max(10, 'expected at most 10')
      .default([])
      .describe('All of them sign; PLATFORM_WEBHOOK_SECRET wins.'),
    headers: z
      .record(
        z
          .string()
          .regex(/^[!#$%&'*+.^_`|~\w-]+$/, 'expected the name of a header')
          .refine((name) => !OWN_HEADERS.test(name), 'this header is set by the server'),
        z.string('expected a text'),
        'expected an object of header names and texts',
      )
      .default({})
      .meta({ form: 'object of header names → texts' })
      .describe('Sent with every attempt; `${{ env.NAME }}` stands for a variable.'),
    env_prefix: z
      .string('expected a text')
      .min(1, 'expected at least 1 character')
      .default('LG_WEBHOOK_')
      .describe('Only variables whose names begin with it may stand in `headers`.'),
    payload_fields: z
      .array(
        z
          .enum(PAYLOAD_FIELDS, `expected one of ${PAYLOAD_FIELDS.join(', ')}`)
          .meta({ form: 'names of fields' }),
        'expected a list of fields',
      )
      .optional()
      .describe('Members of the body; all without.'),
    timeout_secs: seconds.default(15).describe('Seconds that an attempt may take.'),
    retry_pauses_secs: z
      .array(seconds, 'expected a list of seconds')
      .max(100)
      .default([])
      .describe('Seconds between the attempts of a delivery; 13 attempts over 44 hours without.'),
    per_host: z
      .int('expected a whole number')
      .min(1)
      .max(64)
      .default(4)
      .describe('Attempts under way to one host.'),
    keep_hours: z
      .number('expected hours')
      .min(0, 'expected 0 or more')
      .max(87_600)
      .default(72)
      .describe('Hours that a delivered body can be sent again.'),
  },
  'expected an object',
);

const PLACEHOLDER = /\$\{\{\s*env\.([^}\s]*)\s*\}\}/g;

/** The environment wins over the file. `problems` never quote secrets. */
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
  const { url, env_prefix: prefix } = block;
  const headers = Object.entries(block.headers).map(([name, template]) => {
    const report = (problem: string): void =>
      void problems.push(`${path}: webhooks.headers.${name}: ${problem}`);
    const value = fill(template, prefix, env, report);
    if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value)) report('holds a character that no header may hold');
    return [name.toLowerCase(), value] as const;
  });
  const pauses = settings.read('PLATFORM_WEBHOOK_RETRY_PAUSES_SECS') ?? block.retry_pauses_secs;
  return {
    enabled,
    url: {
      allowPrivate: settings.read('PLATFORM_ALLOW_PRIVATE_WEBHOOKS') ?? !url.disable_loopback,
      requireHttps: url.require_https,
      allowedDomains: url.allowed_domains.map(toDomain),
      allowedPorts: url.allowed_ports,
      maxLength: url.max_url_length,
    },
    envPrefix: prefix,
    secrets: settings.read('PLATFORM_WEBHOOK_SECRET') ?? block.secrets,
    headers: Object.fromEntries(headers),
    ...(block.payload_fields && { payloadFields: block.payload_fields }),
    timeoutMs: 1000 * (settings.read('PLATFORM_WEBHOOK_TIMEOUT_SECS') ?? block.timeout_secs),
    ...(pauses.length > 0 && { pausesMs: pauses.map((pause) => Math.max(1, Math.round(pause * 1000))) }),
    perHost: block.per_host,
    keepMs: 3_600_000 * block.keep_hours,
  };
}

/** Normalises a domain as URLs do: lower case, punycode. */
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
