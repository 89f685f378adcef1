/** The variables of a graph worker: everything that the server has but its own settings and secrets. */

/** Settings of this program. */
const OWN = /^(?:PLATFORM_|REWOUND_)/;

/** `secretPrefix`: variables of this prefix hold secrets of webhooks, whichever file they were read from. */
export function workerEnvironment(env: NodeJS.ProcessEnv, secretPrefix: string): NodeJS.ProcessEnv {
  const passed = Object.entries(env).filter(
    ([name]) => !OWN.test(name) && (secretPrefix === '' || !name.startsWith(secretPrefix)),
  );
  return Object.fromEntries(passed);
}
