/** Prefixes of the server's own settings. */
const OWN = /^(?:PLATFORM_|REWOUND_)/;

/** Environment of a graph worker: `env` without server settings and webhook secrets, which have `secretPrefix`. */
export function workerEnvironment(env: NodeJS.ProcessEnv, secretPrefix: string): NodeJS.ProcessEnv {
  const passed = Object.entries(env).filter(
    ([name]) => !OWN.test(name) && (secretPrefix === '' || !name.startsWith(secretPrefix)),
  );
  return Object.fromEntries(passed);
}
