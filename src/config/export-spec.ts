import { z } from 'zod';
import { withForm } from './setting.ts';

/** Location of an export in the project. */
export interface ExportSpec {
  /** Absolute path; relative to the configuration file while that is being read. */
  readonly file: string;
  readonly exportName: string;
}

/** `"<file>:<variable>"`: the file is relative to the configuration file, the variable defaults to `default`. */
export const exportSpec = withForm(
  z
    .string('expected "<file>:<variable>"')
    .regex(/^[^:]+(:[^:]+)?$/, 'expected "<file>:<variable>", relative to this file'),
  '`"file:export"`',
).transform(toExportSpec);

export function toExportSpec(spec: string): ExportSpec {
  const [file, exportName] = spec.split(':');
  return { file: file!, exportName: exportName ?? 'default' };
}
