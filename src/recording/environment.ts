/** What a recording keeps of the environment. */

const KEPT_VARIABLES: ReadonlySet<string> = new Set(['TZ', 'LANG']);

/** An address without user part and query. */
const PLAIN_URL = /^https?:\/\/[^\s@?#]+$/;

/** All names; values only where they are known to be no secrets. `masked`: variables that have a stand-in. */
export const keptEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
  masked: Readonly<Record<string, string>>,
  allowed: readonly string[],
): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries(env).map(([name, value = '']) => [
      name,
      !Object.hasOwn(masked, name) &&
      (allowed.includes(name) || KEPT_VARIABLES.has(name) || PLAIN_URL.test(value))
        ? value
        : null,
    ]),
  );
