/** The result: rows with the bar that each has to clear, as a table and as JSON. */

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What it was compared with, in the same run. */
  readonly against?: string;
  readonly bar?: { readonly atLeast: number } | { readonly atMost: number };
}

export const isMet = ({ value, bar }: Row): boolean | undefined =>
  bar === undefined ? undefined : 'atLeast' in bar ? value >= bar.atLeast : value <= bar.atMost;

const round = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString('en') : value >= 100 ? value.toFixed(0) : value.toFixed(2);

export function toLine(row: Row): string {
  const { name, value, unit, against = '', bar } = row;
  const asked =
    bar === undefined ? '' : 'atLeast' in bar ? `≥ ${round(bar.atLeast)}` : `≤ ${round(bar.atMost)}`;
  const met = isMet(row);
  const verdict = met === undefined ? '' : met ? 'met' : 'MISSED';
  return `| ${name} | ${round(value)} ${unit} | ${against} | ${asked} | ${verdict} |`;
}

export const HEAD = '| Figure | This server | In the same run | Bar | |\n|---|---|---|---|---|';
