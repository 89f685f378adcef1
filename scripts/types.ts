/**
 * `npm run types`: generates the types of a client from the OpenAPI document, as a user would with `openapi-typescript`,
 * and type-checks everything. The bodies that conformance tests send are checked against these types
 * (`test/support/api-types.ts`).
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describeServer } from '../src/http/openapi/served.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'test/.cache/api.d.ts');
/** State of the incremental compiler: a check after a change of one file takes an eighth of the time. */
const learned = join(root, 'test/.cache/types.tsbuildinfo');

/** A variable, because the package's own declarations need TypeScript 5. */
const GENERATOR: string = 'openapi-typescript';
interface Generator {
  default(document: string): Promise<unknown>;
  astToString(types: unknown): string;
}

async function generate(): Promise<void> {
  const document = describeServer({
    version: '0',
    apiKey: false,
    merge: [],
    http: { disabled: new Set(), mountPrefix: '' },
  });
  const text = JSON.stringify(document);
  const mark = `// Made by scripts/types.ts from the document ${createHash('sha256').update(text).digest('hex')}\n`;
  if (existsSync(target) && readFileSync(target, 'utf8').startsWith(mark)) return;
  // The generator needs the compiler's JavaScript API, which TypeScript 7 does not have.
  const require = createRequire(createRequire(import.meta.url).resolve('ts-json-schema-generator'));
  const compiler = pathToFileURL(require.resolve('typescript')).href;
  const hooks = registerHooks({
    resolve: (specifier, context, next) => next(specifier === 'typescript' ? compiler : specifier, context),
  });
  const { default: toTypes, astToString } = (await import(GENERATOR)) as Generator;
  hooks.deregister();
  const types = astToString(await toTypes(text));
  mkdirSync(dirname(target), { recursive: true });
  // The compiler does not notice what changes in the declared globals.
  rmSync(learned, { force: true });
  writeFileSync(target, `${mark}${types}declare global { interface ApiPaths extends paths {} }\n`);
}

/** Checks the files of one configuration and returns the exit code. */
function check(project: string, learned: string): number {
  const { status } = spawnSync(
    join(root, 'node_modules/.bin/tsc'),
    ['--noEmit', '--incremental', '--tsBuildInfoFile', learned, '--project', project],
    { stdio: 'inherit' },
  );
  return status ?? 1;
}

await generate();
process.exitCode =
  check(root, learned) ||
  check(join(root, 'src/studio'), join(root, 'test/.cache/studio.tsbuildinfo')) ||
  check(join(root, 'test/browser/hooks'), join(root, 'test/.cache/hooks.tsbuildinfo'));
