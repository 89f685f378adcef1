/** What receivers of webhooks get: one of bob's stands in every request of his that may name one. */
import type { TestServer } from '../support/with-server.ts';
import type { WebhookSink } from '../support/webhook-sink.ts';
import { tellsOfAlice } from './looks.ts';
import { canaryOf } from './requests.ts';

/** Where alice sends hers by her own will. */
export const BY_ALICE = '/of-alice';

/** The operations whose body may name a webhook, as the server's own description says. */
export async function hookedOperations(s: TestServer): Promise<ReadonlySet<string>> {
  const { paths } = (await s.request('GET', '/openapi.json')).json as {
    paths: Record<string, Record<string, { requestBody?: unknown }>>;
  };
  return new Set(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { requestBody }]) => JSON.stringify(requestBody ?? null).includes('"webhook"'))
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    ),
  );
}

export const withHook = (body: unknown, webhook: string): unknown =>
  Array.isArray(body) ? body.map((each: object) => ({ ...each, webhook })) : { ...(body as object), webhook };

/** Everything that arrived, once what is owed by now was tried. */
export async function judgeBodies(s: TestServer, sink: WebhookSink): Promise<string[]> {
  const open = new Set<string>();
  for (const { type, data } of await s.events()) {
    if (type === 'WebhookOwed') open.add(data.deliveryId);
    if (type === 'WebhookDelivered' || type === 'WebhookAttemptFailed') open.delete(data.deliveryId);
  }
  for (const id of open)
    await s.until(
      ({ type, data }) =>
        (type === 'WebhookDelivered' || type === 'WebhookAttemptFailed') && data.deliveryId === id,
    );
  const problems: string[] = [];
  for (const { url, headers, body } of sink.received) {
    const text = JSON.stringify(headers) + body.toString();
    if (/canary-secret|-token/.test(text)) problems.push(`a webhook to ${url} tells secrets`);
    if (url !== BY_ALICE && tellsOfAlice(text)) problems.push(`a webhook to ${url} tells what is alice's`);
  }
  const hers = sink.received.filter(({ url }) => url === BY_ALICE);
  if (hers.length !== 1 || !hers[0]!.body.toString().includes(canaryOf('alice')))
    problems.push(`${hers.length} webhooks of alice`);
  return problems;
}
