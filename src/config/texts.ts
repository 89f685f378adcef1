/** Text formats that the configuration file and the environment share. */
import { z } from 'zod';

/** Pattern of `http.mount_prefix`. */
export const PREFIX = /^(\/[\w.~-]+)*\/?$/;
export const origin = z
  .string('expected an origin')
  .regex(/^(\*|[a-z][a-z\d+.-]*:\/\/[^/\s]+)$/i, 'expected "*" or an origin such as "https://app.example"')
  .meta({ form: 'origins' });

/** Message for an invalid webhook secret. */
export const SECRET = 'expected "whsec_" and 24 to 64 bytes as base64';

export function isSecret(text: string): boolean {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64 ?? '', 'base64').length;
  return bytes >= 24 && bytes <= 64;
}
