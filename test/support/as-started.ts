/** What `npm start` gives the program, for those that start it in another way. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Manifest {
  readonly scripts: { readonly start: string };
}

const { scripts } = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'),
) as Manifest;
const [, VARIABLES, FLAGS] = /^exec env (.*) node (.*) scripts\/start\.mjs serve$/.exec(scripts.start)!;

export const FLAGS_AS_STARTED: readonly string[] = FLAGS!.split(' ');
export const ENV_AS_STARTED: Readonly<Record<string, string>> = Object.fromEntries(
  [...VARIABLES!.matchAll(/(\w+)=\$\{\1:-(\d+)\}/g)].map(([, name, value]) => [name!, value!]),
);
