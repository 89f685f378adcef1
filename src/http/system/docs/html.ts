/** HTML from a template literal: interpolated text is escaped, interpolated `Markup` is not. */
export interface Markup {
  readonly markup: string;
}

type Part = string | number | Markup | readonly Part[] | undefined;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const markup = texts.map((text, index) => text + toMarkup(parts[index])).join('');
  return { markup };
}

function toMarkup(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string' || typeof part === 'number')
    return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
  return 'markup' in part ? part.markup : part.map(toMarkup).join('');
}
