import type { ExportSpec } from './config/export-spec.ts';
import { describeLoadError } from './graphs/load-error.ts';
import { importUserModule } from './graphs/user-modules.ts';

/**
 * What the project exports for a key of its configuration: undefined when there is none, or with one more problem.
 * `recognise` answers undefined when it is not `wanted`, and throws what else is wrong with it.
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
  const blame = (reason: string): undefined => {
    problems.push(`${key} (${file}): ${reason}`);
    return undefined;
  };
  let exported: Record<string, unknown>;
  try {
    exported = await importUserModule(file);
  } catch (error) {
    return blame(`the file throws on import: ${describeLoadError(error)}`);
  }
  if (!Object.hasOwn(exported, exportName))
    return blame(`it does not export "${exportName}", only ${Object.keys(exported).join(', ') || 'nothing'}`);
  try {
    return recognise(exported[exportName]) ?? blame(`its export "${exportName}" is no ${wanted}`);
  } catch (error) {
    return blame(error instanceof Error ? error.message : String(error));
  }
}
