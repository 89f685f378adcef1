/** Endpoints whose bodies are files, which nothing but the endpoint itself reads. */
import { ENDPOINTS } from './endpoints.ts';
import { pluralPath } from './paths.ts';

const UPLOADS: ReadonlySet<string> = new Set(
  ENDPOINTS.flatMap(({ method, path, upload }) =>
    upload === undefined ? [] : [`${method.toUpperCase()} ${path}`],
  ),
);

/** `path` without the mount prefix. */
export const isUpload = (method: string, path: string): boolean =>
  UPLOADS.has(`${method} ${pluralPath(path)}`);
