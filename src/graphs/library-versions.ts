/** Versions of the packages that graphs are made with, as they are installed beside the graphs' files. */
import { dirname, join } from 'node:path';
import { isObject } from '../kernel/json.ts';
import { readTextFile } from '../kernel/text-file.ts';

const NAMES = [
  '@langchain/langgraph',
  '@langchain/langgraph-checkpoint',
  '@langchain/core',
  'langchain',
  'deepagents',
] as const;

/** Versions by package; where the files have several versions of one, that of the first file counts. */
export function findLibraries(files: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of NAMES)
    for (const folder of new Set(files.map((file) => dirname(file)))) {
      const version = versionIn(folder, name);
      if (version === undefined) continue;
      found[name] = version;
      break;
    }
  return found;
}

/** Looks into the folder and those above it, as Node does. */
function versionIn(folder: string, name: string): string | undefined {
  try {
    const text = readTextFile(join(folder, 'node_modules', name, 'package.json'));
    const parsed: unknown = JSON.parse(text);
    if (isObject(parsed) && typeof parsed['version'] === 'string') return parsed['version'];
  } catch {
    // The folder does not have the package.
  }
  const above = dirname(folder);
  return above === folder ? undefined : versionIn(above, name);
}
