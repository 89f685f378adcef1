/** Tells environment variables and query parameters that hold keys from others. */
import { isOrdinary } from './ordinary-words.ts';

const KEY_VARIABLE =
  /(?:^|[_-])(?:key|apikey|token|secret|password|passwd|pwd|pass|passphrase|credentials?|pat|jwt|auth|cookie)(?:_(?:id|base64|b64))?(?:_?\d+)?$|(?:password|passwd|apikey|token|secret)$/i;

/** `PWD` and `GOOGLE_APPLICATION_CREDENTIALS` are paths. */
const PATH = /^\/[a-z]+\//;

export const isKeyVariable = (name: string, value: string): boolean =>
  KEY_VARIABLE.test(name) && !PATH.test(value);

/** Addresses and paths, which have dots and slashes, stay readable. */
const KEY_CHARACTERS = /^[\w+=~-]{20,}$/;

/** 20 or more letters and digits mixed; names of models are ordinary. */
export const isKeyLike = (value: string): boolean =>
  KEY_CHARACTERS.test(value) && /[A-Za-z]/.test(value) && /\d/.test(value) && !isOrdinary(value);

/** Whole names in lower case, with `_` for `-`. Parts of names do not count: `keyword` and `max_tokens` hold no keys. */
const KEY_PARAMETERS: ReadonlySet<string> = new Set([
  ...[
    'key',
    'api_key',
    'apikey',
    'x_api_key',
    'app_key',
    'appkey',
    'access_key',
    'secret_key',
    'private_key',
  ],
  ...['subscription_key', 'ocp_apim_subscription_key', 'awsaccesskeyid', 'googleaccessid'],
  ...['token', 'access_token', 'accesstoken', 'refresh_token', 'id_token', 'auth_token', 'authtoken'],
  ...['session_token', 'csrf_token', 'xsrf_token', 'x_amz_security_token', 'oauth_token', 'jwt', 'bearer'],
  ...['secret', 'client_secret', 'clientsecret', 'password', 'passwd', 'pwd', 'passphrase', 'otp'],
  ...['auth', 'authorization', 'credential', 'credentials', 'x_amz_credential', 'x_goog_credential'],
  ...['sig', 'signature', 'x_amz_signature', 'x_goog_signature', 'oauth_signature', 'hmac'],
  ...['code', 'code_verifier', 'assertion', 'client_assertion', 'samlresponse'],
  ...['session_id', 'sessionid', 'phpsessid', 'jsessionid'],
]);

export const isKeyParameter = (name: string): boolean =>
  KEY_PARAMETERS.has(name.toLowerCase().replaceAll('-', '_'));
