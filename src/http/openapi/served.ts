/** Builds the OpenAPI document of a server, without the route groups that its configuration disables. */
import type { HttpConfig } from '../../config/http.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { PUBLIC_ROUTES } from '../access.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { groupOf } from '../groups.ts';
import { createDocument, type DocumentOptions } from './document.ts';

export interface Served extends Pick<DocumentOptions, 'version' | 'apiKey' | 'merge'> {
  readonly http: Pick<HttpConfig, 'disabled' | 'mountPrefix'>;
}

export function describeServer({ http, ...rest }: Served): JsonObject {
  const { disabled, mountPrefix } = http;
  const operations = ENDPOINTS.filter(({ path }) => {
    const group = groupOf(path);
    return group === undefined || !disabled.has(group);
  });
  return createDocument({
    ...rest,
    operations,
    publicRoutes: PUBLIC_ROUTES,
    base: mountPrefix === '' ? '/' : mountPrefix,
  });
}
