/** Tells what mends a failure that has one of the usual causes: a missing package, a missing environment variable. */
import { userPlaceOf } from '../kernel/stack.ts';
import { readTextFile } from '../kernel/text-file.ts';

/** `message`: the first line is read. `stack`: the line of the project's code that failed is read, too. */
export function remedyOf(message: string, stack: string | undefined): string | undefined {
  const name = missingPackageOf(message.split('\n')[0]!);
  if (name !== undefined) return `npm install ${name}`;
  const variable = missingVariableOf(message, stack);
  return (
    variable && `${variable} is not set: add it to the env file (\`env\` in platform.json, usually .env)`
  );
}

const MISSING_PACKAGE =
  /^Cannot find (?:package|module) '((?:@[\w.~-]+\/)?[\w~-][\w.~-]*)(?:\/[^']*)?'(?:$| imported)/;

/** The package that the message misses; undefined for files. */
const missingPackageOf = (message: string): string | undefined => MISSING_PACKAGE.exec(message)?.[1];

const ABOUT_ENVIRONMENT = /environment|\benv\b/i;
const ABOUT_LACK = /missing|not (?:set|found|provided)|required|must|provide|undefined|empty/i;
/** Names of settings that a message may lack without a word of the environment. */
const SETTING = /_(?:KEY|TOKEN|SECRET|PASSWORD|URL|URI|ENDPOINT)$/;
/** Names that are no part of an address. */
const VARIABLE = /(?<![\w/])(?!ERR_)[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/g;
const READ_VARIABLE = /process\.env(?:\.([A-Za-z_]\w*)|\[['"]([A-Za-z_]\w*)['"]\])/g;

function missingVariableOf(message: string, stack: string | undefined): string | undefined {
  const named = [...message.matchAll(VARIABLE)]
    .map(([name]) => name)
    .filter((name) => ABOUT_ENVIRONMENT.test(message) || (SETTING.test(name) && ABOUT_LACK.test(message)));
  const read = [...failedLine(stack).matchAll(READ_VARIABLE)].map(([, name, quoted]) => (name ?? quoted)!);
  return [...named, ...read].find((name) => (process.env[name] ?? '') === '');
}

function failedLine(stack: string | undefined): string {
  const place = userPlaceOf(stack ?? '');
  if (place === undefined) return '';
  try {
    return readTextFile(place.file).split('\n')[place.line - 1] ?? '';
  } catch {
    return '';
  }
}
