/** Settings of webhooks. */
import { z } from 'zod';
import { amount, flag, headerName, list, off, positive, text, toMs, whole } from './kinds.ts';
import { group, setting, withDetails, withForm, type Environment } from './setting.ts';

/** Members of a body that can be selected. */
const FIELDS = [
  ...['run_id', 'thread_id', 'assistant_id', 'created_at', 'updated_at', 'status', 'metadata', 'kwargs'],
  ...['multitask_strategy', 'cancel_reason', 'run_started_at', 'run_ended_at', 'webhook_sent_at', 'values'],
  ...['error', 'thread_status', 'interrupts'],
] as const;

/** Headers that the webhook protocol or the connection sets. */
const OWN_HEADERS =
  /^(content-.*|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|webhook-.*)$/i;

const DOMAIN = 'expected a host such as "hooks.example.com", or "*.example.com" for what lies below it';
const domain = withForm(
  z
    .string(DOMAIN)
    .regex(/^(\*\.)?[^\s/:*?#@\\]+$/, DOMAIN)
    .refine((given) => URL.canParse(`http://${given.replace(/^\*\./, '')}`), DOMAIN),
  'hosts, or `*.host`',
  // As in URLs: lower case, punycode.
).transform((given) => {
  const [, star = '', host = ''] = /^(\*\.)?(.*?)\.?$/.exec(given) ?? [];
  return `${star}${new URL(`http://${host}`).hostname}`;
});
const PORT = 'expected a port';
const port = withForm(z.int(PORT).min(1, PORT).max(65_535, PORT), 'ports');
const field = withForm(z.enum(FIELDS, `expected one of ${FIELDS.join(', ')}`), 'names of fields');

const SECRET = 'expected "whsec_" and 24 to 64 bytes as base64';
function isSecret(given: string): boolean {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(given) ?? [];
  const bytes = Buffer.from(base64 ?? '', 'base64').length;
  return bytes >= 24 && bytes <= 64;
}
const secret = withForm(z.string(SECRET).refine(isSecret, SECRET), '`whsec_…` keys');
const secrets = withDetails(list(secret, '"whsec_…" keys', 0, 10), { isSecret: true });

const seconds = () => positive('seconds', 31_536_000);
const pauses = list(withForm(seconds(), 'numbers above 0'), 'seconds', 0, 100).transform((all) =>
  all.length > 0 ? all.map((pause) => Math.max(1, Math.round(toMs(pause)))) : undefined,
);
const name = headerName().refine((each) => !OWN_HEADERS.test(each), 'this header is set by the server');
const headers = withDetails(
  z.record(name, z.string('expected a text'), 'expected an object of header names and texts'),
  { form: 'object of header names → texts', isSecret: true },
);

// prettier-ignore
const url = group({
  disableLoopback: setting('webhooks.url.disable_loopback', flag().default(true), 'Refuses loopback and private receivers, and paths of this server; `false` is for development.'),
  allows: setting('PLATFORM_ALLOW_PRIVATE_WEBHOOKS', flag().optional(), 'Allows loopback and private receivers of webhooks.', '`webhooks.url.disable_loopback`'),
  requireHttps: setting('webhooks.url.require_https', off(), 'Refuses receivers without TLS.'),
  allowedDomains: setting('webhooks.url.allowed_domains', list(domain, 'hosts').prefault([]), 'The only hosts; all without.'),
  allowedPorts: setting('webhooks.url.allowed_ports', list(port, 'ports').default([]), "The only ports; without, 80, 443 and those above 1023 that are no known database's or broker's."),
  maxLength: setting('webhooks.url.max_url_length', whole(1, 65_536).default(2_048), 'Characters.'),
}).transform(({ disableLoopback, allows, ...others }) => ({ allowPrivate: allows ?? !disableLoopback, ...others }));

// prettier-ignore
export const webhooks = group({
  /** False: runs with a webhook are accepted and executed, but nothing is sent. */
  enabled: setting('http.disable_webhooks', flag().transform((isOff) => !isOff).prefault(false), 'Runs are accepted and executed, and no webhook is sent.'),
  url,
  secrets: setting('PLATFORM_WEBHOOK_SECRET webhooks.secrets', secrets.default([]), 'All of them sign.'),
  /** Names in lower case, placeholders replaced. */
  headers: setting('webhooks.headers', headers.default({}), 'Sent with every attempt; `${{ env.NAME }}` stands for a variable.'),
  envPrefix: setting('webhooks.env_prefix', text().min(1, 'expected at least 1 character').default('LG_WEBHOOK_'), 'Only variables whose names begin with it may stand in `headers`.'),
  payloadFields: setting('webhooks.payload_fields', list(field, 'fields').exactOptional(), 'Members of the body; all without.'),
  timeoutMs: setting('PLATFORM_WEBHOOK_TIMEOUT_SECS webhooks.timeout_secs', seconds().transform(toMs).prefault(15), 'Seconds that an attempt may take.'),
  /** Before jitter; one attempt more than pauses. Undefined: the built-in schedule. */
  pausesMs: setting('PLATFORM_WEBHOOK_RETRY_PAUSES_SECS webhooks.retry_pauses_secs', pauses.optional(), 'Seconds between the attempts of a delivery; 13 attempts over 44 hours without.'),
  perHost: setting('webhooks.per_host', whole(1, 64).default(4), 'Attempts under way to one host.'),
  keepMs: setting('webhooks.keep_hours', amount(0, 87_600).transform((hours) => 3_600_000 * hours).prefault(72), 'Hours that a delivered body can be sent again.'),
});

const PLACEHOLDER = /\$\{\{\s*env\.([^}\s]*)\s*\}\}/g;

/** Replaces the placeholders of headers. Problems begin with the header's name and never quote values. */
export function fillHeaders(
  { headers, envPrefix }: z.output<typeof webhooks>,
  env: Environment,
  report: (problem: string) => void,
): Record<string, string> {
  const entries = Object.entries(headers).map(([name, template]) => {
    const value = template.replace(PLACEHOLDER, (_, variable: string) => {
      if (!variable.startsWith(envPrefix))
        report(`${name}: env.${variable}: only variables that begin with ${envPrefix} may be used`);
      else if (env[variable] === undefined)
        report(`${name}: env.${variable}: the environment has no such variable`);
      return env[variable] ?? '';
    });
    if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value))
      report(`${name}: holds a character that no header may hold`);
    return [name.toLowerCase(), value];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}
