/**
 * Renders the OpenAPI document as an HTML page. The page has no script and loads nothing, so its content security policy
 * allows only its own style. A custom app may have added arbitrary members, so every value's type is checked.
 */
import { sha256 } from '../../../kernel/digest.ts';
import { isObject, type Json, type JsonObject } from '../../../kernel/json.ts';
import { html, type Markup } from './html.ts';
import { STYLE } from './style.ts';

export interface Page {
  readonly body: string;
  /** The value of `Content-Security-Policy`. */
  readonly policy: string;
}

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'];

export function renderDocs(document: JsonObject): Page {
  const info = objectOf(document['info']);
  const entries = Object.entries(objectOf(document['paths'])).flatMap(([path, methods]) =>
    METHODS.filter((method) => isObject(objectOf(methods)[method] ?? null)).map((method): Entry => ({
      method,
      path,
      operation: objectOf(objectOf(methods)[method]),
    })),
  );
  const named = listOf(document['tags']).map(objectOf);
  const tagOf = ({ operation }: Entry): string => textOf(listOf(operation['tags'])[0]) || 'other';
  const tags = [...new Set([...named.map(({ name }) => textOf(name)), ...entries.map(tagOf)])];
  const schemas = objectOf(objectOf(document['components'])['schemas']);
  // The policy contains the hash of the style's bytes, so a formatter must not change them.
  const style: Markup = { markup: `<style>${STYLE}</style>` };
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${textOf(info['title'])}</title>
        ${style}
      </head>
      <body>
        <h1>${textOf(info['title'])} ${textOf(info['version'])}</h1>
        <p>${textOf(info['description'])}</p>
        <p><a href="openapi.json">openapi.json</a></p>
        ${tags.map((tag) => {
          const own = entries.filter((entry) => tagOf(entry) === tag);
          const about = textOf(named.find(({ name }) => name === tag)?.['description']);
          return own.length === 0
            ? undefined
            : html`<h2>${tag}</h2>
                <p class="s">${about}</p>
                ${own.map(operationOf)}`;
        })}
        <h2>schemas</h2>
        ${Object.entries(schemas).map(
          ([name, schema]) =>
            html`<details id="${`schema-${name}`}">
              <summary><code>${name}</code></summary>
              ${schemaOf(schema)}
            </details>`,
        )}
      </body>
    </html> `;
  const policy = `default-src 'none'; style-src 'sha256-${sha256(STYLE)}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return { body: page.markup, policy };
}

function operationOf({ method, path, operation }: Entry): Markup {
  const parameters = listOf(operation['parameters']).map(objectOf);
  const body = objectOf(operation['requestBody']);
  return html`<details>
    <summary>
      <span class="m ${method}">${method}</span> <code>${path}</code>
      <span class="s">${textOf(operation['summary'])}</span>
    </summary>
    <p>${textOf(operation['description'])}</p>
    ${
      parameters.length === 0
        ? undefined
        : html`<table>
            <tr>
              <th>parameter</th>
              <th>in</th>
              <th>meaning</th>
            </tr>
            ${parameters.map(
              (each) =>
                html`<tr>
                  <td><code>${textOf(each['name'])}</code>${each['required'] === true ? ' *' : ''}</td>
                  <td>${textOf(each['in'])}</td>
                  <td>
                    ${textOf(each['description'])}
                    <code>${JSON.stringify(each['schema'] ?? each['content'] ?? {})}</code>
                  </td>
                </tr>`,
            )}
          </table>`
    }
    ${
      Object.keys(body).length === 0
        ? undefined
        : html`<p>Body${body['required'] === true ? ', required' : ''}</p>
            ${contentOf(body['content'])}`
    }
    ${Object.entries(objectOf(operation['responses'])).map(
      ([status, reply]) =>
        html`<p><b>${status}</b> ${textOf(objectOf(reply)['description'])}</p>
          ${contentOf(objectOf(reply)['content'])}`,
    )}
  </details>`;
}

const contentOf = (content: Json | undefined): Markup[] =>
  Object.entries(objectOf(content)).map(([type, each]) => {
    const schema = objectOf(each)['schema'] ?? {};
    const name = /^#\/components\/schemas\/(\w+)$/.exec(textOf(objectOf(schema)['$ref']))?.[1];
    return name === undefined
      ? html`<p class="s">${type}</p>
          ${schemaOf(schema)}`
      : html`<p class="s">${type} <a href="${`#schema-${name}`}">${name}</a></p>`;
  });

const schemaOf = (schema: Json): Markup => html`<pre>${JSON.stringify(schema, null, 2)}</pre>`;

const objectOf = (value: Json | undefined): JsonObject =>
  value !== undefined && isObject(value) ? value : {};
const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
