import { resolve } from 'node:path';
import { z } from 'zod';

/** Where an export of the project lies. */
export interface ExportSpec {
  /** Absolute path. */
  readonly file: string;
  readonly exportName: string;
}

/** `"<file>:<variable>"`; the file is relative to the configuration file, the variable `default` when left out. */
export const exportSpec = z
  .string('expected "<file>:<variable>"')
  .regex(/^[^:]+(:[^:]+)?$/, 'expected "<file>:<variable>", relative to this file')
  .meta({ form: '`"file:export"`' });

export function toExportSpec(spec: string, dir: string): ExportSpec {
  const [file, exportName] = spec.split(':');
  return { file: resolve(dir, file!), exportName: exportName ?? 'default' };
}
