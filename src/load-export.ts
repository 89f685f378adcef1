import { existsSync } from 'node:fs';
import type { ExportSpec } from './config/export-spec.ts';
import { describeLoadError } from './graphs/load-error.ts';
import { importUserModule } from './graphs/user-modules.ts';

/**
 * Loads the export that a configuration key names. Returns undefined when none is configured, or after adding to
 * `problems`. `recognise` returns undefined for a wrong type and throws for other faults.
 */
export async function loadExport<T>(
  key: string,
  spec: ExportSpec | undefined,
  recognise: (exported: unknown) => T | undefined,
  wanted: string,
  problems: string[],
): Promise<T | undefined> {
  if (spec === undefined) return undefined;
  const { file, exportName } = spec;
  const refuse = (reason: string): undefined => {
    problems.push(`${key} (${file}): ${reason}`);
    return undefined;
  };
  if (!existsSync(file)) return refuse('the file does not exist');
  let exported: Record<string, unknown>;
  try {
    exported = await importUserModule(file);
  } catch (error) {
    return refuse(`the file throws on import: ${describeLoadError(error)}`);
  }
  if (!Object.hasOwn(exported, exportName))
    return refuse(
      `it does not export "${exportName}", only ${Object.keys(exported).join(', ') || 'nothing'}`,
    );
  try {
    return recognise(exported[exportName]) ?? refuse(`its export "${exportName}" is no ${wanted}`);
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}
