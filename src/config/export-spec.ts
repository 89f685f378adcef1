import { resolve } from 'node:path';
import { z } from 'zod';

/** Location of an export in the project. */
export interface ExportSpec {
  /** Absolute path. */
  readonly file: string;
  readonly exportName: string;
}

/** `"<file>:<variable>"`: the file is relative to the configuration file, the variable defaults to `default`. */
export const exportSpec = z
  .string('expected "<file>:<variable>"')
  .regex(/^[^:]+(:[^:]+)?$/, 'expected "<file>:<variable>", relative to this file')
  .meta({ form: '`"file:export"`' });

export function toExportSpec(spec: string, dir: string): ExportSpec {
  const [file, exportName] = spec.split(':');
  return { file: resolve(dir, file!), exportName: exportName ?? 'default' };
}
