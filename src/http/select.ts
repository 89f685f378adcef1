/** Keeps only the selected members; all of them without a selection. */
export function pick<V>(
  record: Readonly<Record<string, V>>,
  select: readonly string[] | undefined,
): Record<string, V> {
  if (select === undefined || select.length === 0) return record;
  return Object.fromEntries(Object.entries(record).filter(([key]) => select.includes(key)));
}
