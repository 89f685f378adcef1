/** Requests for tokens and answers with tokens or cookies: these expire, so no later attempt is served them. */
import { plainBody } from './bodies.ts';
import { encodingOf } from './answers.ts';

type Headers = readonly (readonly [name: string, value: string])[];

/** Larger bodies hold no tokens. */
const MAX_TOKEN_BYTES = 65_536;
/** A member of an object, or of a form; not one within a text. */
const GRANT = /(?<!\\)"grant_type"\s*:|(?:^|&)grant_type=/;
const TOKEN = /(?<!\\)"(?:access|refresh|id)_token"\s*:|(?:^|&)access_token=/;
/** Cookies by which proxies and load balancers know a client again: they come with the answers of most models. */
const PROXY_COOKIE = /^(?:__cf|_cf|cf_|awsalb|awselb|arraffinity|gclb|incap_|visid_)/i;

const isEventStream = ([name, value]: Headers[number]): boolean =>
  name.toLowerCase() === 'content-type' && value.startsWith('text/event-stream');

export const isTokenRequest = (body: Buffer): boolean =>
  body.length <= MAX_TOKEN_BYTES && GRANT.test(body.toString('latin1'));

export function isTokenAnswer(headers: Headers, body: Uint8Array): boolean {
  if (headers.some(([name, value]) => name.toLowerCase() === 'set-cookie' && !PROXY_COOKIE.test(value)))
    return true;
  if (body.length > MAX_TOKEN_BYTES || headers.some(isEventStream)) return false;
  return TOKEN.test(Buffer.from(plainBody(body, encodingOf({ status: 0, headers }))).toString('latin1'));
}
